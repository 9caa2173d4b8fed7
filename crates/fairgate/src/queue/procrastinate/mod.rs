//! Procrastinate 3, the Python package: its table is `procrastinate_jobs`.
//!
//! Its priorities fall where ours rise, so they change sign. It keeps no limit of attempts and no error text in its tables: the task's own retry
//! strategy says when a job is dead. A row deleted while its job runs is a success, because that is how its workers delete finished jobs.

use super::rows::{self, Rows};
use super::{Bounds, Event, Ident, IdentError, Queue};

/// The adapter. Cheap to make; it holds the name of the schema.
#[derive(Debug, Clone)]
pub struct Procrastinate {
    rows: Rows,
}

const ATTEMPTS: &str = "r.attempts";

impl Procrastinate {
    /// For the tables in `schema`, which is `public` unless you chose another.
    ///
    /// # Errors
    /// When `schema` cannot be the name of a schema.
    pub fn new(schema: &str) -> Result<Self, IdentError> {
        let rows = Rows {
            kind: "procrastinate",
            schema: Ident::new(schema)?,
            table: Ident::new("procrastinate_jobs")?,
            id: "id".to_owned(),
            id_type: "bigint",
            also_same: "",
            state: include_str!("state.sql").to_owned(),
            attempts: ATTEMPTS.to_owned(),
            back: Some(include_str!("back.sql").replace("{attempts}", ATTEMPTS)),
            failed: "true".to_owned(),
            columns: Some("status"),
            deleted_running: "success",
            prefix: "zz_",
            live: "",
        };
        Ok(Self { rows })
    }
}

impl Queue for Procrastinate {
    fn kind(&self) -> &'static str {
        "procrastinate"
    }

    fn schema(&self) -> &Ident {
        &self.rows.schema
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            priority_min: -i32::MAX,
            priority_max: i32::MAX,
            max_attempts_max: i32::MAX,
            task_max_chars: 128,
        }
    }

    fn queue_id(&self) -> String {
        self.rows.fill("nextval(pg_get_serial_sequence({literal}, 'id')::regclass)")
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
            ("procrastinate_jobs", "id", Some("int8")),
            ("procrastinate_jobs", "queue_name", Some("varchar")),
            ("procrastinate_jobs", "task_name", Some("varchar")),
            ("procrastinate_jobs", "priority", Some("int4")),
            ("procrastinate_jobs", "args", Some("jsonb")),
            ("procrastinate_jobs", "status", Some("procrastinate_job_status")),
            ("procrastinate_jobs", "scheduled_at", Some("timestamptz")),
            ("procrastinate_jobs", "attempts", Some("int4")),
        ])
    }

    fn ailments(&self) -> Vec<String> {
        vec![self.rows.ailments(), self.rows.fill(include_str!("ailments.sql"))]
    }

    fn triggers(&self) -> Vec<(String, String)> {
        self.rows.triggers()
    }
}
