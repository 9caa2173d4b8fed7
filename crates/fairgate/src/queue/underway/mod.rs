//! Underway 0.2, the Rust crate: tasks in `task`, their attempts in `task_attempt`.
//!
//! The id of a task there is the job's id here. An underway queue is the job's queue_name, else its task, and is made if it is not there. Its priorities fall
//! where ours rise, so they change sign. A worker that stalls is replaced without a change of state; one that stalls in the last attempt leaves the task in
//! progress for ever, and the sweep frees its slot.

use super::rows::{self, Rows};
use super::{Bounds, Event, Ident, IdentError, Queue};

/// The adapter. Cheap to make; it holds the name of the schema.
#[derive(Debug, Clone)]
pub struct Underway {
    rows: Rows,
}

const ATTEMPTS: &str = include_str!("attempts.sql");

impl Underway {
    /// For the tables in `schema`, which is `underway` unless you chose another.
    ///
    /// # Errors
    /// When `schema` cannot be the name of a schema.
    pub fn new(schema: &str) -> Result<Self, IdentError> {
        let rows = Rows {
            kind: "underway",
            schema: Ident::new(schema)?,
            table: Ident::new("task")?,
            id: "id".to_owned(),
            id_type: "uuid",
            also_same: " AND r.task_queue_name = OLD.task_queue_name",
            state: include_str!("state.sql").to_owned(),
            attempts: ATTEMPTS.to_owned(),
            back: Some(include_str!("back.sql").replace("{attempts}", ATTEMPTS)),
            failed: "true".to_owned(),
            columns: Some("state"),
            deleted_running: "ignored",
            prefix: "",
            live: include_str!("live.sql"),
        };
        Ok(Self { rows })
    }
}

impl Queue for Underway {
    fn kind(&self) -> &'static str {
        "underway"
    }

    fn schema(&self) -> &Ident {
        &self.rows.schema
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            priority_min: -i32::MAX,
            priority_max: i32::MAX,
            max_attempts_max: i32::MAX,
            task_max_chars: 10_000,
        }
    }

    fn queue_id(&self) -> String {
        "o.job_id".to_owned()
    }

    fn enqueue(&self) -> String {
        self.rows.enqueue(include_str!("enqueue.sql"))
    }

    fn shows(&self) -> &'static [Event] {
        Event::ALL
    }

    fn hooks(&self) -> Option<String> {
        Some(self.rows.hooks())
    }

    fn unhook(&self) -> Option<String> {
        Some(self.rows.unhook())
    }

    fn live(&self) -> String {
        self.rows.live()
    }

    fn shape(&self) -> String {
        rows::shape([
            ("task", "id", Some("uuid")),
            ("task", "task_queue_name", Some("text")),
            ("task", "input", Some("jsonb")),
            ("task", "state", Some("task_state")),
            ("task", "retry_policy", Some("task_retry_policy")),
            ("task", "priority", Some("int4")),
            ("task", "delay", Some("interval")),
            ("task", "created_at", Some("timestamptz")),
            ("task", "updated_at", Some("timestamptz")),
            ("task", "last_heartbeat_at", Some("timestamptz")),
            ("task", "heartbeat", Some("interval")),
            ("task_queue", "name", Some("text")),
            ("task_attempt", "task_id", Some("uuid")),
            ("task_attempt", "task_queue_name", Some("text")),
            ("task_attempt", "attempt_number", Some("int4")),
            ("task_attempt", "state", Some("task_state")),
            ("task_attempt", "error_message", Some("text")),
            ("task_attempt", "completed_at", Some("timestamptz")),
        ])
    }

    fn ailments(&self) -> Vec<String> {
        vec![self.rows.ailments()]
    }

    fn triggers(&self) -> Vec<(String, String)> {
        self.rows.triggers()
    }
}
