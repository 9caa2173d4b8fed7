//! Candidates in the database: ageing, the census, leases, outcomes.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use sqlx::postgres::types::PgInterval;
use std::time::Duration;

use super::Kind;
use super::choose::{Facts, Pool};
use crate::config::Config;
use crate::error::{Doing, FeedError};

/// Rows of one sweep.
const SWEEP: i64 = 1000;

/// An entity that nobody else may try until the lease is over.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Leased {
    /// GitHub's id.
    pub id: i64,
    /// Where its document is, unchecked.
    pub api_url: Option<String>,
    /// Attempts that failed in a row.
    pub attempts: i32,
    /// What stood there before the lease.
    pub before: Option<DateTime<Utc>>,
    /// The end of the lease, and its token.
    pub lease: DateTime<Utc>,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The document, and the names in it.
    Complete(String),
    /// It will not be better next time.
    Permanent(String),
    /// It may be better next time, after this long.
    Retryable(String, Duration),
    /// Nothing is known of the entity; it may not be tried before the end of this wait.
    Delayed(Duration),
    /// As if nothing had been tried.
    Restored,
    /// A search did not find it: the next attempt is a request for it alone.
    NotFound,
}

pub(crate) fn interval(duration: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX) }
}

/// Gives up what is too old to be enriched for the first time, most overdue first; how many. Folds the counts of states on the way.
///
/// # Errors
/// When the database does not answer.
pub async fn age_out(conn: &mut PgConnection, config: &Config) -> Result<u64, FeedError> {
    let done = sqlx::query(include_str!("../../queries/enrich/age_out.sql"))
        .bind(interval(config.eligible_for))
        .bind(SWEEP)
        .execute(&mut *conn)
        .await
        .doing("ageing candidates")?;
    sqlx::query(include_str!("../../queries/enrich/fold_counts.sql"))
        .execute(conn)
        .await
        .doing("folding counts of entities")?;
    if done.rows_affected() > 0 {
        tracing::info!(entities = done.rows_affected(), "entities aged out");
    }
    Ok(done.rows_affected())
}

/// What there is to do. Budgets are left at zero.
///
/// # Errors
/// When the database does not answer.
pub async fn census(conn: &mut PgConnection, config: &Config) -> Result<[Facts; 2], FeedError> {
    let rows: Vec<(bool, bool, bool)> = sqlx::query_as(include_str!("../../queries/enrich/census.sql"))
        .bind(interval(config.eligible_for))
        .bind(interval(config.actor_ttl))
        .bind(interval(config.repository_ttl))
        .fetch_all(conn)
        .await
        .doing("looking for candidates")?;
    let fact = |n: usize| {
        let (new, stale, unenriched) = rows.get(n).copied().unwrap_or_default();
        Facts { new, stale, unenriched, ..Facts::default() }
    };
    Ok([fact(0), fact(1)])
}

/// Leases the first candidate of a pool, if there is one.
///
/// # Errors
/// When the database does not answer.
pub async fn lease(
    conn: &mut PgConnection,
    config: &Config,
    kind: Kind,
    pool: Pool,
) -> Result<Option<Leased>, FeedError> {
    let (sql, age) = match pool {
        Pool::New => (include_str!("../../queries/enrich/lease_new.sql"), config.eligible_for),
        Pool::Stale => (include_str!("../../queries/enrich/lease_stale.sql"), config.ttl(kind)),
    };
    sqlx::query_as(sql)
        .bind(kind.code())
        .bind(interval(age))
        .bind(interval(config.lease()))
        .fetch_optional(conn)
        .await
        .doing("leasing a candidate")
}

/// Writes an outcome. False: the lease was lost, and nothing is written.
///
/// # Errors
/// When the database does not answer.
pub async fn write(
    conn: &mut PgConnection,
    kind: Kind,
    leased: &Leased,
    outcome: &Outcome,
) -> Result<bool, FeedError> {
    let (id, lease) = (leased.id, leased.lease);
    let query = match outcome {
        Outcome::Complete(document) => sqlx::query(include_str!("../../queries/enrich/complete.sql"))
            .bind(kind.code())
            .bind(id)
            .bind(lease)
            .bind(document),
        Outcome::Permanent(error) => sqlx::query(include_str!("../../queries/enrich/permanent.sql"))
            .bind(kind.code())
            .bind(id)
            .bind(lease)
            .bind(error),
        Outcome::Retryable(error, wait) => sqlx::query(include_str!("../../queries/enrich/retryable.sql"))
            .bind(kind.code())
            .bind(id)
            .bind(lease)
            .bind(error)
            .bind(interval(*wait)),
        Outcome::Delayed(wait) => sqlx::query(include_str!("../../queries/enrich/delay.sql"))
            .bind(kind.code())
            .bind(id)
            .bind(lease)
            .bind(interval(*wait)),
        Outcome::NotFound => sqlx::query(include_str!("../../queries/enrich/not_found.sql"))
            .bind(kind.code())
            .bind(id)
            .bind(lease)
            .bind(leased.before),
        Outcome::Restored => sqlx::query(include_str!("../../queries/enrich/restore.sql"))
            .bind(kind.code())
            .bind(id)
            .bind(lease)
            .bind(leased.before),
    };
    let done = query.execute(conn).await.doing("writing an outcome")?;
    Ok(done.rows_affected() == 1)
}
