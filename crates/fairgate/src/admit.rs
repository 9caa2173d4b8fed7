use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::lane::Rules;
use crate::queue::Queue;

/// What is to be taken from one partition.
#[derive(Debug, Clone)]
pub(crate) struct Take {
    pub(crate) partition: Uuid,
    pub(crate) key: String,
    pub(crate) count: u32,
    pub(crate) rank: u32,
    pub(crate) limits: String,
}

/// The admission statement: take, the queue's own inserts, record.
pub(crate) fn compose(queue: &dyn Queue) -> String {
    let take = include_str!("../queries/admit/take_staged.sql").replace("{queue_id}", &queue.queue_id());
    let record = include_str!("../queries/admit/record_admissions.sql");
    format!("{take}{}{record}", queue.enqueue())
}

/// Moves the planned jobs from staging into the queue and writes their slots. Says how many of each partition were really taken.
/// `only`: no other jobs than these.
pub(crate) async fn admit(
    conn: &mut PgConnection,
    rules: &Rules,
    takes: &[Take],
    only: Option<&[Uuid]>,
    now: DateTime<Utc>,
) -> Result<HashMap<Uuid, u32>, DatabaseError> {
    let number = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let rows: Vec<(Uuid, i32, i64)> = crate::sql::query_as(AssertSqlSafe(rules.admit_sql.clone()))
        .bind(takes.iter().map(|t| t.partition).collect::<Vec<_>>())
        .bind(takes.iter().map(|t| t.key.as_str()).collect::<Vec<_>>())
        .bind(takes.iter().map(|t| number(t.count)).collect::<Vec<_>>())
        .bind(takes.iter().map(|t| number(t.rank)).collect::<Vec<_>>())
        .bind(takes.iter().map(|t| t.limits.as_str()).collect::<Vec<_>>())
        .bind(rules.policy.name().as_str())
        .bind(rules.policy_id)
        .bind(rules.queue_id)
        .bind(now)
        .bind(only)
        .fetch_all(conn)
        .await
        .doing("admitting jobs")?;
    if rows.first().is_some_and(|(_, _, left_behind)| *left_behind != 0) {
        return Err(sqlx::Error::Protocol("a job changed while it was taken".to_owned()))
            .doing("admitting jobs");
    }
    Ok(rows.into_iter().map(|(id, n, _)| (id, n.unsigned_abs())).collect())
}

/// Whose fault it is that an admission failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// A row that the queue refuses.
    Job,
    /// The queue's tables: not there, of another shape, or not ours to write.
    Queue,
    /// The server or the connection; the same may work in a moment.
    Server,
}

/// By the class of the SQLSTATE.
pub(crate) fn blame(error: &DatabaseError) -> Blame {
    match error.sqlstate().as_deref().map(|s| s.get(..2).unwrap_or_default().to_owned()).as_deref() {
        Some("42" | "3F" | "0A") => Blame::Queue,
        None | Some("08" | "25" | "40" | "53" | "55" | "57" | "58" | "XX") => Blame::Server,
        Some(_) => Blame::Job,
    }
}
