//! Graphile Worker: the Node package `graphile-worker` and the Rust crate `graphile_worker` share these tables.
//!
//! Our ids ride in `flags` as `{"fairgate": {"a": admission, "j": job, "policy": name, "p": partition key}}`: the payload reaches the task
//! unchanged. Its `queue_name` means serial execution, so ours is never mapped to it.

use super::{Bounds, Event, Ident, IdentError, Queue};

/// The adapter. Cheap to make; it holds the name of the schema.
#[derive(Debug, Clone)]
pub struct GraphileWorker {
    schema: Ident,
}

impl GraphileWorker {
    /// For the tables in `schema`, which is `graphile_worker` unless you chose another.
    ///
    /// # Errors
    /// When `schema` cannot be the name of a schema.
    pub fn new(schema: &str) -> Result<Self, IdentError> {
        Ok(Self { schema: Ident::new(schema)? })
    }

    fn fill(&self, template: &str) -> String {
        template.replace("{schema}", &self.schema.to_string())
    }
}

impl Queue for GraphileWorker {
    fn kind(&self) -> &'static str {
        "graphile_worker"
    }

    fn schema(&self) -> &Ident {
        &self.schema
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            priority_min: i16::MIN.into(),
            priority_max: i16::MAX.into(),
            max_attempts_max: i16::MAX.into(),
            task_max_chars: 128,
        }
    }

    fn queue_id(&self) -> String {
        self.fill("nextval((SELECT pg_get_serial_sequence('{schema}._private_jobs', 'id')::regclass))")
    }

    fn enqueue(&self) -> String {
        self.fill(include_str!("enqueue.sql"))
    }

    fn shows(&self) -> &'static [Event] {
        Event::ALL
    }

    fn hooks(&self) -> Option<String> {
        Some(self.fill(include_str!("hooks.sql")))
    }

    fn unhook(&self) -> Option<String> {
        Some(self.fill(include_str!("unhook.sql")))
    }

    fn live(&self) -> String {
        self.fill(include_str!("live.sql"))
    }

    fn shape(&self) -> &'static str {
        include_str!("shape.sql")
    }

    fn ailments(&self) -> Vec<String> {
        vec![self.fill(include_str!("ailments.sql"))]
    }

    fn triggers(&self) -> (&'static str, &'static [&'static str]) {
        ("_private_jobs", &["fairgate_deleted", "fairgate_started", "fairgate_unlocked"])
    }
}
