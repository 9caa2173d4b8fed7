use chrono::{DateTime, Utc};
use fairgate_core::id::{AdmissionId, JobId};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row};

/// What a job of a [`TableQueue`](super::TableQueue) is about. A completed one has no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// No worker has it.
    Waiting,
    /// A worker has it.
    Running,
    /// Its last attempt has failed.
    Dead,
}

/// A job as the queue has it.
#[derive(Debug, Clone, PartialEq)]
pub struct TestJob {
    /// The queue's own id; later ones are greater.
    pub id: i64,
    /// Its admission. None: it was sent while fairgate was disabled.
    pub admission_id: Option<AdmissionId>,
    /// The job's id for life.
    pub job_id: JobId,
    /// The policy it went through.
    pub policy: String,
    /// Its partition.
    pub partition_key: String,
    /// What is to be done.
    pub task: String,
    /// With what.
    pub payload: Value,
    /// Smaller goes first.
    pub priority: i32,
    /// The queue name that it was staged with.
    pub queue_name: Option<String>,
    /// Not before then.
    pub run_at: DateTime<Utc>,
    /// Attempts begun.
    pub attempts: i32,
    /// Attempts at most; 25 unless staged otherwise.
    pub max_attempts: i32,
    /// What the last attempt ended with, if one failed.
    pub last_error: Option<String>,
    /// The key that it was staged with.
    pub dedupe_key: Option<String>,
    /// What it is about.
    pub state: JobState,
}

impl FromRow<'_, PgRow> for TestJob {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let state: String = row.try_get("state")?;
        Ok(Self {
            id: row.try_get("id")?,
            admission_id: row.try_get::<Option<uuid::Uuid>, _>("admission_id")?.map(AdmissionId::from_uuid),
            job_id: JobId::from_uuid(row.try_get("job_id")?),
            policy: row.try_get("policy")?,
            partition_key: row.try_get("partition_key")?,
            task: row.try_get("task")?,
            payload: row.try_get("payload")?,
            priority: row.try_get("priority")?,
            queue_name: row.try_get("queue_name")?,
            run_at: row.try_get("run_at")?,
            attempts: row.try_get("attempts")?,
            max_attempts: row.try_get("max_attempts")?,
            last_error: row.try_get("last_error")?,
            dedupe_key: row.try_get("dedupe_key")?,
            state: match state.as_str() {
                "running" => JobState::Running,
                "dead" => JobState::Dead,
                _ => JobState::Waiting,
            },
        })
    }
}
