use chrono::{DateTime, Utc};
use fairgate_core::id::{JobId, PartitionKey, PolicyName};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::Doing;
use crate::operate::{OperateError, policy_id};

/// A job that waits and could go by its time.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct WaitingJob {
    /// Its id.
    #[sqlx(try_from = "Uuid")]
    pub job_id: JobId,
    /// Its task.
    pub task: String,
    /// Smaller goes first.
    pub priority: i32,
    /// Since when it could go.
    pub ready_at: DateTime<Utc>,
    /// When it was staged.
    pub staged_at: DateTime<Utc>,
    /// Attempts that the queue has made.
    pub attempts: i32,
    /// How often the queue refused it.
    pub forward_attempts: i16,
}

/// The first waiting jobs of a partition, in the order in which they go.
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn waiting_jobs(
    conn: &mut PgConnection,
    policy: &PolicyName,
    partition: &PartitionKey,
    limit: u32,
) -> Result<Vec<WaitingJob>, OperateError> {
    let id = policy_id(conn, policy.as_str()).await?;
    let jobs = crate::sql::query_as(include_str!("../../queries/observe/list_waiting_jobs.sql"))
        .bind(id)
        .bind(partition.as_str())
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await
        .doing("listing waiting jobs")?;
    Ok(jobs)
}
