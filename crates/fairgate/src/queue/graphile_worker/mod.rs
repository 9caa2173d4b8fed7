//! Graphile Worker: the Node package `graphile-worker` and the Rust crate `graphile_worker` share these tables.
//!
//! Our ids ride in `flags` as `{"fairgate": {"a": admission, "j": job, "policy": name, "p": partition key}}`: the payload reaches the task
//! unchanged. Its `queue_name` means serial execution, so ours is never mapped to it.

use super::rows::shape;
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

    fn shape(&self) -> String {
        let tasks = [("id", "int4"), ("identifier", "text")];
        let jobs = [
            ("id", "int8"),
            ("task_id", "int4"),
            ("payload", "json"),
            ("priority", "int2"),
            ("run_at", "timestamptz"),
            ("attempts", "int2"),
            ("max_attempts", "int2"),
            ("last_error", "text"),
            ("locked_at", "timestamptz"),
            ("flags", "jsonb"),
        ];
        let tasks = tasks.iter().map(|&(column, kind)| ("_private_tasks", column, Some(kind)));
        shape(tasks.chain(jobs.iter().map(|&(column, kind)| ("_private_jobs", column, Some(kind)))))
    }

    fn ailments(&self) -> Vec<String> {
        let common = include_str!("../ailments.sql");
        let table = format!("'{}._private_jobs'", self.schema);
        vec![common.replace("{literal}", &table), self.fill(include_str!("ailments.sql"))]
    }

    fn triggers(&self) -> Vec<(String, String)> {
        let names = ["fairgate_deleted", "fairgate_started", "fairgate_unlocked"];
        names.into_iter().map(|name| ("_private_jobs".to_owned(), name.to_owned())).collect()
    }
}
