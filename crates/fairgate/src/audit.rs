//! The trail of what operators did: who, when, what, and how it ended.
//!
//! An entry is written before the operation and completed after it, so that one that broke off is seen, too. The admin pages do this by themselves.

use std::fmt;

use chrono::{DateTime, Utc};
use fairgate_core::id::{JobId, PartitionKey, PolicyName};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};

/// The longest name of an operator, in bytes; what is longer is cut.
const LONGEST_NAME: usize = 200;
/// The longest detail or outcome that is kept, in bytes; what is longer is cut.
const LONGEST_TEXT: usize = 10_000;

/// An operation that is about to begin.
#[derive(Debug, Clone, Default)]
pub struct Operation {
    /// What it is, as in `pause`.
    pub action: &'static str,
    /// The policy.
    pub policy: Option<PolicyName>,
    /// The partition.
    pub partition: Option<PartitionKey>,
    /// The job.
    pub job: Option<JobId>,
    /// What else was asked for.
    pub detail: Option<String>,
}

/// An entry of the trail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub struct Entry {
    /// Ascending with time.
    pub id: i64,
    /// When it began.
    pub at: DateTime<Utc>,
    /// Who did it.
    pub who: String,
    /// What it is.
    pub action: String,
    /// The policy.
    pub policy: Option<String>,
    /// The partition.
    pub partition_key: Option<String>,
    /// The job.
    pub job_id: Option<Uuid>,
    /// What else was asked for.
    pub detail: Option<String>,
    /// When it ended. None: it is under way, or broke off.
    pub done_at: Option<DateTime<Utc>>,
    /// Whether it was carried out.
    pub succeeded: Option<bool>,
    /// How it ended, in words.
    pub outcome: Option<String>,
}

/// Writes down that somebody begins an operation. Returns the entry to [`finish`].
///
/// # Errors
/// When the database does not answer.
pub async fn begin(conn: &mut PgConnection, who: &str, operation: &Operation) -> Result<i64, DatabaseError> {
    let who = match cut(who.trim(), LONGEST_NAME) {
        empty if empty.is_empty() => "unknown".to_owned(),
        who => who,
    };
    crate::sql::query_scalar(include_str!("../queries/audit/begin.sql"))
        .bind(who)
        .bind(operation.action)
        .bind(operation.policy.as_ref().map(PolicyName::as_str))
        .bind(operation.partition.as_ref().map(PartitionKey::as_str))
        .bind(operation.job.map(|job| job.as_uuid()))
        .bind(operation.detail.as_deref().map(|detail| cut(detail, LONGEST_TEXT)))
        .fetch_one(conn)
        .await
        .doing("writing down an operation")
}

/// Writes down how an operation ended.
///
/// # Errors
/// When the database does not answer.
pub async fn finish<D: fmt::Display, E: fmt::Display>(
    conn: &mut PgConnection,
    entry: i64,
    outcome: Result<D, E>,
) -> Result<(), DatabaseError> {
    let (succeeded, words) = match outcome {
        Ok(done) => (true, done.to_string()),
        Err(error) => (false, error.to_string()),
    };
    crate::sql::query(include_str!("../queries/audit/finish.sql"))
        .bind(entry)
        .bind(succeeded)
        .bind(cut(&words, LONGEST_TEXT))
        .execute(conn)
        .await
        .doing("writing down how an operation ended")?;
    Ok(())
}

/// The newest entries, of a policy or of one of its partitions where that is asked for, and older than entry `before`.
///
/// # Errors
/// When the database does not answer.
pub async fn list(
    conn: &mut PgConnection,
    policy: Option<&PolicyName>,
    partition: Option<&PartitionKey>,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<Entry>, DatabaseError> {
    crate::sql::query_as(include_str!("../queries/audit/list.sql"))
        .bind(policy.map(PolicyName::as_str))
        .bind(partition.map(PartitionKey::as_str))
        .bind(before)
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await
        .doing("reading the trail of operations")
}

/// At most so many bytes, without what PostgreSQL cannot store.
fn cut(text: &str, bytes: usize) -> String {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].replace('\0', "\u{fffd}")
}
