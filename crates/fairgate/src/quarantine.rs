//! Jobs that their queue refused for good: looked at, put back into staging, or dropped.

use chrono::{DateTime, Utc};
use fairgate_core::id::{JobId, PolicyName};
use serde::Serialize;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::operate::{OperateError, notify, policy_id};

/// A job that is set aside.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct QuarantinedJob {
    /// Its id, which it keeps.
    #[sqlx(try_from = "Uuid")]
    pub job_id: JobId,
    /// Its policy.
    pub policy: String,
    /// Its partition.
    pub partition_key: String,
    /// Its task.
    pub task: String,
    /// Smaller goes first.
    pub priority: i32,
    /// When it was to go, if it said so.
    pub run_at: Option<DateTime<Utc>>,
    /// When it was staged.
    pub staged_at: DateTime<Utc>,
    /// How often the queue refused it.
    pub forward_attempts: i16,
    /// The queue's last words.
    pub error: String,
    /// When it was set aside.
    pub quarantined_at: DateTime<Utc>,
}

/// Why nothing was restaged.
#[derive(Debug, thiserror::Error)]
pub enum QuarantineError {
    /// There is no such policy, or the database failed.
    #[error(transparent)]
    Operate(#[from] OperateError),
    /// A retired policy takes no jobs.
    #[error(
        "policy \"{policy}\" is retired, so its jobs cannot be restaged: it is no longer in the configuration"
    )]
    Retired {
        /// The policy.
        policy: String,
    },
}

impl From<DatabaseError> for QuarantineError {
    fn from(error: DatabaseError) -> Self {
        Self::Operate(error.into())
    }
}

/// The quarantined jobs of a policy, or of all, the newest first.
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn list(
    conn: &mut PgConnection,
    policy: Option<&PolicyName>,
) -> Result<Vec<QuarantinedJob>, OperateError> {
    let policy = match policy {
        Some(policy) => Some(policy_id(conn, policy.as_str()).await?),
        None => None,
    };
    let jobs = crate::sql::query_as(include_str!("../queries/quarantine/list.sql"))
        .bind(policy)
        .fetch_all(conn)
        .await
        .doing("listing quarantined jobs")?;
    Ok(jobs)
}

/// Puts jobs back into staging, all or none: as they were, with their ids, and with no refusals counted. Returns those that were there.
///
/// # Errors
/// See [`QuarantineError`].
pub async fn restage(conn: &mut PgConnection, jobs: &[JobId]) -> Result<Vec<JobId>, QuarantineError> {
    const DOING: &str = "restaging quarantined jobs";
    let ids = uuids(jobs);
    let mut tx = conn.begin().await.doing(DOING)?;
    let retired: Option<String> =
        crate::sql::query_scalar(include_str!("../queries/quarantine/retired_policy.sql"))
            .bind(&ids)
            .fetch_optional(&mut *tx)
            .await
            .doing(DOING)?;
    if let Some(policy) = retired {
        tx.rollback().await.doing(DOING)?;
        return Err(QuarantineError::Retired { policy });
    }
    let done: Vec<Uuid> = crate::sql::query_scalar(include_str!("../queries/quarantine/restage.sql"))
        .bind(&ids)
        .fetch_all(&mut *tx)
        .await
        .doing(DOING)?;
    notify(&mut tx).await?;
    tx.commit().await.doing(DOING)?;
    Ok(done.into_iter().map(JobId::from_uuid).collect())
}

/// Deletes jobs for good. Returns those that were there.
///
/// # Errors
/// When the database does not answer.
pub async fn drop(conn: &mut PgConnection, jobs: &[JobId]) -> Result<Vec<JobId>, DatabaseError> {
    let done: Vec<Uuid> = crate::sql::query_scalar(include_str!("../queries/quarantine/drop.sql"))
        .bind(uuids(jobs))
        .fetch_all(conn)
        .await
        .doing("dropping quarantined jobs")?;
    Ok(done.into_iter().map(JobId::from_uuid).collect())
}

fn uuids(jobs: &[JobId]) -> Vec<Uuid> {
    jobs.iter().map(JobId::as_uuid).collect()
}
