//! What a queue adapter is: SQL text. It never depends on the queue's own crate, and payloads never leave the server.

mod apalis;
mod expression;
mod graphile_worker;
mod guarded;
mod ident;
mod pg_boss;
mod pgmq;
mod procrastinate;
mod rows;
pub mod table;
mod underway;

pub use apalis::Apalis;
pub(crate) use expression::check as check_expression;
pub use graphile_worker::GraphileWorker;
pub use guarded::Guarded;
pub use ident::{Ident, IdentError};
pub use pg_boss::PgBoss;
pub use pgmq::Pgmq;
pub use procrastinate::Procrastinate;
pub use table::Table;
pub use underway::Underway;

/// The values that the queue's columns can take; `stage` refuses what lies outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Smallest priority.
    pub priority_min: i32,
    /// Greatest priority.
    pub priority_max: i32,
    /// Greatest `max_attempts`.
    pub max_attempts_max: i32,
    /// Longest task name, in characters.
    pub task_max_chars: i32,
}

/// Something that happens to a job in the queue, which a trigger on the queue's tables can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A worker began it.
    Started,
    /// A worker completed it.
    Succeeded,
    /// An attempt failed, and the queue means to try again.
    Failed,
    /// The last attempt failed.
    Dead,
    /// It was taken out before it began.
    Removed,
}

impl Event {
    /// All of them.
    pub const ALL: &'static [Self] =
        &[Self::Started, Self::Succeeded, Self::Failed, Self::Dead, Self::Removed];

    /// The word for it in the database and in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Dead => "dead",
            Self::Removed => "removed",
        }
    }
}

/// A queue behind us, described in SQL. An implementation that passes the conformance suite may be given to [`crate::Ticker`].
pub trait Queue: Send + Sync + std::fmt::Debug {
    /// The name that `type = ".."` gives it in the configuration.
    fn kind(&self) -> &'static str;

    /// The schema that its tables live in.
    fn schema(&self) -> &Ident;

    /// What its columns can hold.
    fn bounds(&self) -> Bounds;

    /// What has to be remembered to build the adapter again, as a JSON object.
    fn settings(&self) -> serde_json::Value {
        serde_json::json!({})
    }

    /// An expression that draws the queue's own id of one job, evaluated once a row in the order of the jobs: `nextval(..)`.
    fn queue_id(&self) -> String;

    /// CTEs, the last one without a comma behind it, that insert the rows of the relation `taken`:
    /// `taken(admission_id uuid, job_id uuid, policy text, partition_key text, task text, payload json, priority int, queue_name text,
    /// attempts int, max_attempts int, last_error text, dedupe_key text, run_at timestamptz, queue_id)`. `attempts` is how many the queue has made already. `queue_id` is what [`queue_id`](Self::queue_id) drew, in the order of the jobs;
    /// `admission_id` is NULL for a job that is sent while fairgate is disabled. One of them is `nudged`, which is selected from last.
    fn enqueue(&self) -> String;

    /// What its triggers see. A policy that needs more is refused.
    fn shows(&self) -> &'static [Event] {
        &[]
    }

    /// Statements that install the triggers, safe to run again. None: the queue's tables cannot show what happens.
    fn hooks(&self) -> Option<String>;

    /// Statements that remove the triggers.
    fn unhook(&self) -> Option<String>;

    /// A query over `$1::uuid[]` (admission ids) and `$2::text[]` (the queue's ids) that returns the admissions whose job still waits or runs.
    fn live(&self) -> String;

    /// A query over `$1` (the schema) that returns a row of text for everything that does not fit; `missing` alone: no tables there.
    fn shape(&self) -> String;

    /// Statements that fail where what was configured does not fit the tables, and change nothing. None: there is nothing to configure.
    fn probe(&self) -> Option<String> {
        None
    }

    /// Queries for the doctor, each returning rows of (what is wrong, what to do).
    fn ailments(&self) -> Vec<String> {
        Vec::new()
    }

    /// The triggers that [`hooks`](Self::hooks) installs on tables known beforehand: (table, trigger).
    fn triggers(&self) -> Vec<(String, String)>;
}

/// Why no adapter could be made.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// No adapter has that name.
    #[error("queue type \"{kind}\" is not known; known: {}", KINDS.join(", "))]
    UnknownKind {
        /// The name that was given.
        kind: String,
    },
    /// A schema's, table's or column's name cannot be one.
    #[error("{0}")]
    Name(#[from] IdentError),
    /// A text is not one expression.
    #[error("the SQL expression \"{text}\" cannot be used: {why}")]
    Expression {
        /// The text.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The settings do not describe a table.
    #[error("settings of the table: {0}")]
    Settings(#[from] serde_json::Error),
}

/// The types of queue that this version can hand jobs to.
pub const KINDS: &[&str] =
    &["graphile_worker", "apalis", "pgmq", "pg_boss", "procrastinate", "underway", "table"];

/// Builds the adapter that a configuration, or the row of a registered queue, describes. `schema` of None: the queue's own.
///
/// # Errors
/// When no adapter has that name, `schema` is not a name, or the settings do not make sense.
pub fn adapter(
    kind: &str,
    schema: Option<&str>,
    settings: &serde_json::Value,
) -> Result<Box<dyn Queue>, QueueError> {
    let schema = |own: &'static str| schema.unwrap_or(own);
    Ok(match kind {
        "graphile_worker" => Box::new(GraphileWorker::new(schema("graphile_worker"))?),
        "apalis" => Box::new(Apalis::new(schema("apalis"))?),
        "pgmq" => Box::new(Pgmq::new(schema("pgmq"))?),
        "pg_boss" => Box::new(PgBoss::new(schema("pgboss"))?),
        "procrastinate" => Box::new(Procrastinate::new(schema("public"))?),
        "underway" => Box::new(Underway::new(schema("underway"))?),
        "table" => {
            let settings = <table::TableSettings as serde::Deserialize>::deserialize(settings)?;
            Box::new(Table::new(schema("public"), settings)?)
        }
        other => return Err(QueueError::UnknownKind { kind: other.to_owned() }),
    })
}
