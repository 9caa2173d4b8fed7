//! pg-boss 10, the Node package: one partitioned table `job`.
//!
//! The id of a job there is its id here. A pg-boss queue is the job's queue_name, else its task. Its priorities fall where ours rise, so they change
//! sign. It fails a job by deleting its row and inserting it anew in one statement.

use super::rows::{self, Rows};
use super::{Bounds, Event, Ident, IdentError, Queue};

/// The adapter. Cheap to make; it holds the name of the schema.
#[derive(Debug, Clone)]
pub struct PgBoss {
    rows: Rows,
}

/// The first attempt does not raise retry_count.
const ATTEMPTS: &str = "r.retry_count + (r.started_on IS NOT NULL)::int";

impl PgBoss {
    /// For the tables in `schema`, which is `pgboss` unless you chose another.
    ///
    /// # Errors
    /// When `schema` cannot be the name of a schema.
    pub fn new(schema: &str) -> Result<Self, IdentError> {
        let rows = Rows {
            kind: "pg_boss",
            schema: Ident::new(schema)?,
            table: Ident::new("job")?,
            id: "id".to_owned(),
            id_type: "uuid",
            also_same: " AND r.name = OLD.name",
            state: include_str!("state.sql").to_owned(),
            attempts: ATTEMPTS.to_owned(),
            back: Some(include_str!("back.sql").replace("{attempts}", ATTEMPTS)),
            failed: "true".to_owned(),
            columns: Some("state"),
            deleted_running: "ignored",
            prefix: "",
            live: "",
        };
        Ok(Self { rows })
    }
}

impl Queue for PgBoss {
    fn kind(&self) -> &'static str {
        "pg_boss"
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
        let job = [
            ("id", "uuid"),
            ("name", "text"),
            ("priority", "int4"),
            ("data", "jsonb"),
            ("state", "job_state"),
            ("retry_limit", "int4"),
            ("retry_count", "int4"),
            ("retry_delay", "int4"),
            ("retry_backoff", "bool"),
            ("start_after", "timestamptz"),
            ("started_on", "timestamptz"),
            ("expire_in", "interval"),
            ("created_on", "timestamptz"),
            ("keep_until", "timestamptz"),
            ("output", "jsonb"),
            ("dead_letter", "text"),
            ("policy", "text"),
        ];
        let queue = [
            ("name", "text"),
            ("retry_limit", "int4"),
            ("retry_delay", "int4"),
            ("retry_backoff", "bool"),
            ("expire_seconds", "int4"),
            ("retention_minutes", "int4"),
            ("dead_letter", "text"),
            ("policy", "text"),
        ];
        let job = job.iter().map(|&(column, kind)| ("job", column, Some(kind)));
        rows::shape(job.chain(queue.iter().map(|&(column, kind)| ("queue", column, Some(kind)))))
    }

    fn ailments(&self) -> Vec<String> {
        vec![self.rows.ailments(), self.rows.fill(include_str!("ailments.sql"))]
    }

    fn triggers(&self) -> Vec<(String, String)> {
        self.rows.triggers()
    }
}
