//! Producers: put jobs into staging, inside the caller's own transaction, or take them back.

mod job;
mod problem;

use fairgate_core::id::JobId;
use fairgate_core::policy::Policy;
use sqlx::{Acquire, PgConnection};
use uuid::Uuid;

use crate::error::Doing;

pub use job::{JobError, NewJob};
pub use problem::StageError;

/// What became of a job that was staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It waits in staging.
    Staged,
    /// Another job holds its dedupe key; that one counts.
    Kept,
    /// It took the place of the job that held its dedupe key.
    Replaced,
    /// Fairgate is disabled: it went straight to the queue.
    Sent,
}

impl Outcome {
    /// The word that the SQL functions and the command use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Staged => "staged",
            Self::Kept => "kept",
            Self::Replaced => "replaced",
            Self::Sent => "sent",
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            "kept" => Self::Kept,
            "replaced" => Self::Replaced,
            "sent" => Self::Sent,
            _ => Self::Staged,
        }
    }
}

/// The answer to one staged job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Staged {
    /// The job that counts.
    pub job_id: JobId,
    /// What happened.
    pub outcome: Outcome,
}

/// How many jobs go in one statement.
const CHUNK: usize = 10_000;

/// The policy to stage to: its name, or the [`Policy`] itself, which is needed when its keys are computed by a closure.
pub trait StageTo: Sync {
    /// The policy's name.
    fn policy_name(&self) -> &str;
    /// The key of a job that names none, where the database cannot compute it.
    ///
    /// # Errors
    /// When the closure gave something that is not a key.
    fn computed_key(&self, _job: &NewJob) -> Result<Option<String>, StageError> {
        Ok(None)
    }
}

impl StageTo for str {
    fn policy_name(&self) -> &str {
        self
    }
}

impl StageTo for fairgate_core::id::PolicyName {
    fn policy_name(&self) -> &str {
        self.as_str()
    }
}

impl StageTo for Policy {
    fn policy_name(&self) -> &str {
        self.name().as_str()
    }

    fn computed_key(&self, job: &NewJob) -> Result<Option<String>, StageError> {
        if self.definition().partition_by != fairgate_core::definition::KeySource::Computed
            || job.partition_key.is_some()
        {
            return Ok(None);
        }
        let key = self
            .partition_key(&job.context_for_keys()?)
            .map_err(|source| StageError::Key { policy: self.name().to_string(), source })?;
        Ok(Some(key.into()))
    }
}

/// Stages one job in the transaction that `conn` is in (or in one of its own). Commit shows it, rollback leaves nothing.
///
/// # Errors
/// See [`StageError`]. PostgreSQL aborts the caller's transaction on any error.
pub async fn stage<P: StageTo + ?Sized>(
    conn: &mut PgConnection,
    policy: &P,
    job: &NewJob,
) -> Result<Staged, StageError> {
    let key = policy.computed_key(job)?.or_else(|| job.partition_key.clone());
    let (job_id, outcome): (Uuid, String) = crate::sql::query_as(include_str!("../queries/stage/stage.sql"))
        .bind(policy.policy_name())
        .bind(&job.task)
        .bind(&job.payload)
        .bind(&job.context)
        .bind(key)
        .bind(job.priority)
        .bind(job.run_at)
        .bind(&job.dedupe_key)
        .bind(&job.queue_name)
        .bind(job.max_attempts)
        .fetch_one(conn)
        .await
        .doing("staging a job")?;
    Ok(Staged { job_id: JobId::from_uuid(job_id), outcome: Outcome::parse(&outcome) })
}

/// Stages any number of jobs, all or nothing, in order: one statement per 10,000. The answers stand in the order of the jobs.
///
/// # Errors
/// See [`StageError`]; messages name the job by its place, counted from 1. Nothing is staged then.
pub async fn stage_many<P: StageTo + ?Sized>(
    conn: &mut PgConnection,
    policy: &P,
    jobs: &[NewJob],
) -> Result<Vec<Staged>, StageError> {
    let mut answers = Vec::with_capacity(jobs.len());
    let mut transaction = conn.begin().await.doing("staging jobs")?;
    for (index, chunk) in jobs.chunks(CHUNK).enumerate() {
        let mut keys = Vec::with_capacity(chunk.len());
        for job in chunk {
            keys.push(policy.computed_key(job)?.or_else(|| job.partition_key.clone()));
        }
        let column = |get: fn(&NewJob) -> &str| chunk.iter().map(get).collect::<Vec<_>>();
        let rows: Vec<(Uuid, String)> = crate::sql::query_as(include_str!("../queries/stage/stage_rows.sql"))
            .bind(policy.policy_name())
            .bind(column(|j| &j.task))
            .bind(column(|j| &j.payload))
            .bind(column(|j| &j.context))
            .bind(keys)
            .bind(chunk.iter().map(|j| j.priority).collect::<Vec<_>>())
            .bind(chunk.iter().map(|j| j.run_at).collect::<Vec<_>>())
            .bind(chunk.iter().map(|j| j.dedupe_key.as_deref()).collect::<Vec<_>>())
            .bind(chunk.iter().map(|j| j.queue_name.as_deref()).collect::<Vec<_>>())
            .bind(chunk.iter().map(|j| j.max_attempts).collect::<Vec<_>>())
            .bind(i64::try_from(index * CHUNK + 1).unwrap_or(i64::MAX))
            .fetch_all(&mut *transaction)
            .await
            .doing("staging jobs")?;
        answers.extend(
            rows.into_iter().map(|(id, outcome)| Staged {
                job_id: JobId::from_uuid(id),
                outcome: Outcome::parse(&outcome),
            }),
        );
    }
    transaction.commit().await.doing("staging jobs")?;
    Ok(answers)
}

/// Takes a job back that still waits. False: it was admitted, cancelled before, or never there.
///
/// # Errors
/// When the database does not answer.
pub async fn cancel(conn: &mut PgConnection, job: JobId) -> Result<bool, StageError> {
    let gone = crate::sql::query_scalar(include_str!("../queries/stage/cancel.sql"))
        .bind(job.as_uuid())
        .fetch_one(conn)
        .await
        .doing("cancelling a job")?;
    Ok(gone)
}
