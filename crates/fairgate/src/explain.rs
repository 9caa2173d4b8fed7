//! Why a job waits: one snapshot, judged by the code that admits.

mod partition;
mod read;
mod scopes;
mod turn;

use chrono::{DateTime, Utc};
use fairgate_core::id::{AdmissionId, JobId, PartitionKey, PolicyName};
use fairgate_core::policy::Policy;
use serde::Serialize;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::operate::{OperateError, policy_id};
use crate::quarantine::QuarantinedJob;

pub use partition::{Event, GateStanding, Hold, PartitionExplanation};
pub use scopes::ScopeStanding;

/// Where a job is, and what it waits for.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum JobExplanation {
    /// It waits in staging.
    Staged(Box<StagedJob>),
    /// Its queue has it.
    InFlight(InFlightJob),
    /// Its queue refused it for good.
    Quarantined(QuarantinedJob),
    /// It is done, was cancelled or sent while fairgate was disabled, or never was there.
    Gone {
        /// The id that was asked for.
        job_id: JobId,
    },
}

/// A job in staging.
#[derive(Debug, Clone, Serialize)]
pub struct StagedJob {
    /// Its id.
    pub job_id: JobId,
    /// Its task.
    pub task: String,
    /// Smaller goes first.
    pub priority: i32,
    /// When it may go at the earliest, if it was staged with a time.
    pub run_at: Option<DateTime<Utc>>,
    /// When it was staged.
    pub staged_at: DateTime<Utc>,
    /// Jobs of its partition that go before it, those among them whose time comes before it may go.
    pub ahead: i64,
    /// How often its queue refused it.
    pub forward_attempts: i16,
    /// The queue's words when it last did.
    pub forward_error: Option<String>,
    /// The instant before which it will not go. When only time holds it and nothing is ahead, the first tick at or after it admits it. It stands
    /// until something happens to the partition, a look under new limits included. None: it waits for what `holds` says.
    pub earliest: Option<DateTime<Utc>>,
    /// What holds it besides time.
    pub holds: Vec<Hold>,
    /// Its partition.
    pub partition: PartitionExplanation,
}

/// A job that its queue has.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct InFlightJob {
    /// Its policy.
    pub policy: String,
    /// Its partition, if that is still known.
    pub partition: Option<String>,
    /// The queue.
    pub queue: String,
    /// Its slot.
    #[sqlx(flatten)]
    pub slot: Slot,
}

/// A slot in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub struct Slot {
    /// The job.
    #[sqlx(try_from = "Uuid")]
    pub job_id: JobId,
    /// The admission.
    #[sqlx(try_from = "Uuid")]
    pub admission_id: AdmissionId,
    /// Since when.
    pub admitted_at: DateTime<Utc>,
    /// When a worker began, if one did and the queue shows it.
    pub started_at: Option<DateTime<Utc>>,
    /// The last heartbeat, if there was one.
    pub beat_at: Option<DateTime<Utc>>,
    /// Whether it went past the gates.
    pub forced: bool,
    /// The queue's own id of the job.
    pub queue_job_id: String,
}

/// Explains a job. `own`: policies with closures, for gates that need them; `now` is the database's own clock unless given. Give it a
/// connection that is in no transaction.
///
/// # Errors
/// When the database does not answer. An unknown id is an answer.
pub async fn explain_job(
    conn: &mut PgConnection,
    own: &[Policy],
    job: JobId,
    now: Option<DateTime<Utc>>,
) -> Result<JobExplanation, DatabaseError> {
    let mut tx = snapshot(conn).await?;
    let answer = explain_job_in(&mut tx, own, job, now).await?;
    tx.rollback().await.doing("ending a snapshot")?;
    Ok(answer)
}

/// Explains a job within a transaction that is one snapshot, as [`observe::reading`](crate::observe::reading) begins it. For the rest see [`explain_job`].
///
/// # Errors
/// When the database does not answer.
pub async fn explain_job_in(
    tx: &mut PgConnection,
    own: &[Policy],
    job: JobId,
    now: Option<DateTime<Utc>>,
) -> Result<JobExplanation, DatabaseError> {
    Ok(match read::staged(tx, job).await? {
        Some(found) => {
            let facts = read::partition(tx, own, found.policy_id, found.partition_id, now).await?;
            // A row of staging without its report, or its partition, is a broken promise; there is nothing to judge it by.
            let facts = facts.ok_or(sqlx::Error::RowNotFound).doing("reading the partition of a job")?;
            let partition = partition::explain(&facts, own);
            let (earliest, holds) = partition::of_job(&facts, own, found.ready_at);
            let ahead = read::ahead(tx, job, now, earliest).await?;
            JobExplanation::Staged(Box::new(found.explained(earliest, holds, ahead, partition)))
        }
        None => match read::in_flight(tx, job).await? {
            Some(found) => JobExplanation::InFlight(found),
            None => match read::quarantined(tx, job).await? {
                Some(found) => JobExplanation::Quarantined(found),
                None => JobExplanation::Gone { job_id: job },
            },
        },
    })
}

/// Explains a partition: what holds its next job. For the rest see [`explain_job`].
///
/// # Errors
/// When there is no such policy or partition, or the database does not answer.
pub async fn explain_partition(
    conn: &mut PgConnection,
    own: &[Policy],
    policy: &PolicyName,
    partition: &PartitionKey,
    now: Option<DateTime<Utc>>,
) -> Result<PartitionExplanation, OperateError> {
    let mut tx = snapshot(conn).await?;
    let answer = explain_partition_in(&mut tx, own, policy, partition, now).await?;
    tx.rollback().await.doing("ending a snapshot")?;
    Ok(answer)
}

/// Explains a partition within a transaction that is one snapshot. For the rest see [`explain_partition`].
///
/// # Errors
/// When there is no such policy or partition, or the database does not answer.
pub async fn explain_partition_in(
    tx: &mut PgConnection,
    own: &[Policy],
    policy: &PolicyName,
    partition: &PartitionKey,
    now: Option<DateTime<Utc>>,
) -> Result<PartitionExplanation, OperateError> {
    let policy_id = policy_id(tx, policy.as_str()).await?;
    let id = read::partition_id(tx, policy_id, partition).await?;
    let facts = read::partition(tx, own, policy_id, id, now).await?;
    let facts = facts.ok_or_else(|| OperateError::UnknownPartition {
        policy: policy.to_string(),
        partition: partition.to_string(),
    })?;
    Ok(partition::explain(&facts, own))
}

async fn snapshot(conn: &mut PgConnection) -> Result<sqlx::Transaction<'_, sqlx::Postgres>, DatabaseError> {
    conn.begin_with(include_str!("../queries/explain/begin.sql")).await.doing("beginning a snapshot")
}
