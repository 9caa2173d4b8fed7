//! Apalis with its PostgreSQL backend, the Rust crate `apalis-postgres` 1: one table `jobs`.
//!
//! The id of a job there is its id here, written as a ULID. An apalis queue (`job_type`) is the job's queue_name, else its task. The payload is the bytes of
//! the JSON text, unchanged. Its priorities fall where ours rise, so they change sign. A start is the fetch: the step after it is left out for short jobs.

use super::rows::{self, Rows};
use super::{Bounds, Event, Ident, IdentError, Queue};

/// The adapter. Cheap to make; it holds the name of the schema.
#[derive(Debug, Clone)]
pub struct Apalis {
    rows: Rows,
}

const ATTEMPTS: &str = "r.attempts";

impl Apalis {
    /// For the tables in `schema`, which is `apalis` unless you chose another.
    ///
    /// # Errors
    /// When `schema` cannot be the name of a schema.
    pub fn new(schema: &str) -> Result<Self, IdentError> {
        let rows = Rows {
            kind: "apalis",
            schema: Ident::new(schema)?,
            table: Ident::new("jobs")?,
            id: "id".to_owned(),
            id_type: "text",
            also_same: "",
            state: include_str!("state.sql").to_owned(),
            attempts: ATTEMPTS.to_owned(),
            back: Some(include_str!("back.sql").replace("{attempts}", ATTEMPTS)),
            failed: "true".to_owned(),
            columns: Some("status, attempts"),
            deleted_running: "ignored",
            prefix: "",
            live: "",
        };
        Ok(Self { rows })
    }
}

impl Queue for Apalis {
    fn kind(&self) -> &'static str {
        "apalis"
    }

    fn schema(&self) -> &Ident {
        &self.rows.schema
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            priority_min: -i32::MAX,
            priority_max: i32::MAX,
            max_attempts_max: i32::MAX,
            task_max_chars: 512,
        }
    }

    fn queue_id(&self) -> String {
        "fairgate.ulid(o.job_id)".to_owned()
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
            ("jobs", "id", Some("text")),
            ("jobs", "job_type", Some("text")),
            ("jobs", "job", Some("bytea")),
            ("jobs", "status", Some("text")),
            ("jobs", "attempts", Some("int4")),
            ("jobs", "max_attempts", Some("int4")),
            ("jobs", "run_at", Some("timestamptz")),
            ("jobs", "last_result", Some("jsonb")),
            ("jobs", "priority", Some("int4")),
            ("jobs", "metadata", Some("hstore")),
        ])
    }

    fn ailments(&self) -> Vec<String> {
        vec![self.rows.ailments(), self.rows.fill(include_str!("ailments.sql"))]
    }

    fn triggers(&self) -> Vec<(String, String)> {
        self.rows.triggers()
    }
}
