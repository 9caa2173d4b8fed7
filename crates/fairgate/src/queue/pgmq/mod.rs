//! PGMQ 1.5 and newer: a table of messages for each queue, reached through its functions.
//!
//! A pgmq queue is the job's queue_name, else its task. Our ids ride in the message's headers. It knows no attempts, no failure and no death: a message
//! that is not deleted or archived in time is read again. It has no priorities; ours still rule the order of admission.

use super::rows::shape;
use super::{Bounds, Event, Ident, IdentError, Queue};

/// The adapter. Cheap to make; it holds the name of the schema.
#[derive(Debug, Clone)]
pub struct Pgmq {
    schema: Ident,
}

impl Pgmq {
    /// For the extension, or its SQL, in `schema`, which is `pgmq`.
    ///
    /// # Errors
    /// When `schema` cannot be the name of a schema.
    pub fn new(schema: &str) -> Result<Self, IdentError> {
        Ok(Self { schema: Ident::new(schema)? })
    }

    fn fill(&self, template: &str) -> String {
        template.replace("{text}", &format!("'{}'", self.schema.as_str()))
    }
}

impl Queue for Pgmq {
    fn kind(&self) -> &'static str {
        "pgmq"
    }

    fn schema(&self) -> &Ident {
        &self.schema
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            priority_min: i32::MIN,
            priority_max: i32::MAX,
            max_attempts_max: i32::MAX,
            task_max_chars: 47,
        }
    }

    fn queue_id(&self) -> String {
        "o.job_id".to_owned()
    }

    fn enqueue(&self) -> String {
        self.fill(include_str!("enqueue.sql"))
    }

    fn shows(&self) -> &'static [Event] {
        &[Event::Started, Event::Succeeded, Event::Removed]
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
        let meta = shape([("meta", "queue_name", None)]);
        format!("{meta}\nUNION ALL\n{}", include_str!("shape.sql"))
    }

    fn ailments(&self) -> Vec<String> {
        vec![self.fill(include_str!("ailments.sql"))]
    }

    fn triggers(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
