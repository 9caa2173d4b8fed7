use fairgate_core::id::JobId;
use serde::Serialize;
use sqlx::PgConnection;

use crate::error::{DatabaseError, Doing};

/// What a job carries, while it is staged or quarantined.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct JobDetails {
    /// `staged` or `quarantined`.
    pub place: String,
    /// Its task.
    pub task: String,
    /// Its payload as it was given, up to the characters that were asked for.
    pub payload: String,
    /// The characters that its payload has.
    pub payload_chars: i64,
    /// The context that it was staged with, cut the same way.
    pub context: String,
    /// The queue of that name, if it asked for one.
    pub queue_name: Option<String>,
    /// Its dedupe key.
    pub dedupe_key: Option<String>,
    /// Attempts that the queue has made.
    pub attempts: i32,
    /// Attempts that it may make.
    pub max_attempts: Option<i32>,
    /// What the last attempt ended with.
    pub last_error: Option<String>,
}

/// What a job carries. None: its queue has it, or it is gone.
///
/// # Errors
/// When the database does not answer.
pub async fn job_details(
    conn: &mut PgConnection,
    job: JobId,
    characters: u16,
) -> Result<Option<JobDetails>, DatabaseError> {
    crate::sql::query_as(include_str!("../../queries/observe/job_details.sql"))
        .bind(job.as_uuid())
        .bind(i32::from(characters))
        .fetch_optional(conn)
        .await
        .doing("reading a job")
}
