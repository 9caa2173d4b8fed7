//! What people read: totals, policies, partitions. Numbers are the gates' own.

mod hint_facts;
mod job;
mod line;
mod partitions;
mod rank;
mod trend;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::PgConnection;

use crate::error::{DatabaseError, Doing};

pub use hint_facts::{PolicyNumbers, QueueStatus, hints, policy_numbers, queues};
pub use job::{JobDetails, job_details};
pub use line::{WaitingJob, waiting_jobs};
pub use partitions::{
    PageMark, PartitionList, PartitionSort, PartitionStatus, PartitionsAsked, PolicyList, definition,
    partition, partition_page, partitions,
};
pub use rank::{Ranked, Rankings, Share, Shares, rankings, shares};
pub use trend::{Bucket, DenialCount, Trend, trend};

pub use crate::explain::{
    Event, GateStanding, Hold, InFlightJob, JobExplanation, PartitionExplanation, ScopeStanding, Slot,
    StagedJob, explain_job, explain_job_in, explain_partition, explain_partition_in,
};

/// Refreshes the totals that tick samples carry.
pub(crate) async fn gauge(conn: &mut PgConnection) -> Result<(), DatabaseError> {
    crate::sql::query(include_str!("../queries/sweep/gauge_lanes.sql"))
        .execute(conn)
        .await
        .doing("adding up the lanes")?;
    Ok(())
}

/// Refreshes what fitted limits of queues follow, at most once a second. A running ticker does it by itself.
///
/// # Errors
/// When the database does not answer.
pub async fn gauge_queues(conn: &mut PgConnection) -> Result<(), DatabaseError> {
    crate::sql::query(include_str!("../queries/observe/gauge_queues.sql"))
        .execute(conn)
        .await
        .doing("looking at the queues")?;
    Ok(())
}

/// The report table is written and emptied all the time; autovacuum looks too seldom.
pub(crate) async fn vacuum_reports(conn: &mut PgConnection) -> Result<(), DatabaseError> {
    // The simple protocol: VACUUM cannot run in a transaction, and behind a pooler nothing else may run outside of one.
    sqlx::raw_sql(include_str!("../queries/ticker/vacuum_delta.sql"))
        .execute(conn)
        .await
        .doing("vacuuming the reports")?;
    Ok(())
}

/// The engine at one moment.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The engine-wide switch.
    pub enabled: bool,
    /// Tickers that were seen in the last minute.
    pub tickers: i64,
    /// Reports that wait to be absorbed.
    pub reports: i64,
    /// Jobs that the queue refused for good.
    pub quarantined: i64,
    /// Retries that found their dedupe key in another job's hands and go on without it, within `metrics_retention`.
    pub lost_keys: i64,
    /// Every policy, by name.
    pub policies: Vec<PolicyStatus>,
}

/// A policy at one moment.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct PolicyStatus {
    /// Its name.
    pub name: String,
    /// Its revision.
    pub revision: i32,
    /// Enabled, here and engine-wide.
    pub enabled: bool,
    /// Paused.
    pub paused: bool,
    /// No longer in the configuration.
    pub retired: bool,
    /// The queue that its jobs go to.
    pub queue: String,
    /// Whether that queue takes jobs.
    pub queue_ready: bool,
    /// Why not.
    pub queue_problem: Option<String>,
    /// Partitions that exist.
    pub partitions: i64,
    /// Jobs that wait and could go by their time.
    pub pending: i64,
    /// Jobs whose `run_at` is still to come.
    pub scheduled: i64,
    /// Jobs in flight.
    pub in_flight: i64,
    /// Jobs that the queue refused for good.
    pub quarantined: i64,
    /// Jobs admitted in the last minute.
    pub admitted_last_minute: i64,
    /// Since when the oldest ready job waits, of those that were staged first or are looked at next where too many wait to look at all.
    pub oldest_ready_at: Option<DateTime<Utc>>,
    /// Denied looks of the last minute by reason.
    pub denials_last_minute: serde_json::Value,
    /// The definition as registered.
    pub definition: serde_json::Value,
}

/// Begins a transaction for reading what people look at: one snapshot; it changes nothing, holds no lock that anybody waits for, and ends by itself if it takes long.
///
/// # Errors
/// When the database does not answer.
pub async fn reading(
    conn: &mut PgConnection,
) -> Result<sqlx::Transaction<'_, sqlx::Postgres>, DatabaseError> {
    sqlx::Connection::begin_with(conn, include_str!("../queries/observe/begin_reading.sql"))
        .await
        .doing("beginning to read")
}

/// The database's clock, which alone decides when a job is due.
///
/// # Errors
/// When the database does not answer.
pub async fn now(conn: &mut PgConnection) -> Result<DateTime<Utc>, DatabaseError> {
    crate::sql::query_scalar(include_str!("../queries/testing/database_time.sql"))
        .fetch_one(conn)
        .await
        .doing("reading the database's clock")
}

/// Everything at once, in one snapshot per list.
///
/// # Errors
/// When the database does not answer.
pub async fn status(conn: &mut PgConnection) -> Result<Status, DatabaseError> {
    let (enabled, tickers, reports, quarantined, lost_keys): (bool, i64, i64, i64, i64) =
        crate::sql::query_as(include_str!("../queries/observe/engine_totals.sql"))
            .fetch_one(&mut *conn)
            .await
            .doing("reading the engine's status")?;
    Ok(Status { enabled, tickers, reports, quarantined, lost_keys, policies: policies(conn).await? })
}

/// Every policy, by name.
///
/// # Errors
/// When the database does not answer.
pub async fn policies(conn: &mut PgConnection) -> Result<Vec<PolicyStatus>, DatabaseError> {
    crate::sql::query_as(include_str!("../queries/observe/policy_statuses.sql"))
        .fetch_all(conn)
        .await
        .doing("reading the policies")
}
