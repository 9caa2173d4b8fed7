//! What people read: totals, policies, partitions. Numbers are the gates' own.

use chrono::{DateTime, Utc};
use fairgate_core::context::Context;
use serde::Serialize;
use sqlx::PgConnection;

use crate::error::{DatabaseError, Doing};

pub use crate::explain::{
    Event, GateStanding, Hold, InFlightJob, JobExplanation, PartitionExplanation, ScopeStanding, Slot,
    StagedJob, explain_job, explain_partition,
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
    /// Since when the oldest ready job waits.
    pub oldest_ready_at: Option<DateTime<Utc>>,
    /// Denied looks of the last minute by reason.
    pub denials_last_minute: serde_json::Value,
    /// The definition as registered.
    pub definition: serde_json::Value,
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

/// How a list of partitions is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartitionSort {
    /// Most waiting jobs first.
    #[default]
    Pending,
    /// Most jobs in flight first.
    InFlight,
    /// By key.
    Key,
    /// Next to be looked at first.
    Due,
    /// Most recent activity first.
    Recent,
}

impl PartitionSort {
    /// The names that the command takes.
    pub const NAMES: [&'static str; 5] = ["pending", "in_flight", "key", "due", "recent"];

    /// The sort of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "pending" => Some(Self::Pending),
            "in_flight" => Some(Self::InFlight),
            "key" => Some(Self::Key),
            "due" => Some(Self::Due),
            "recent" => Some(Self::Recent),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InFlight => "in_flight",
            Self::Key => "key",
            Self::Due => "due",
            Self::Recent => "recent",
        }
    }
}

/// A partition at one moment.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct PartitionStatus {
    /// Its key.
    pub key: String,
    /// Its shard.
    pub shard: String,
    /// Jobs that wait and could go by their time.
    pub pending: i64,
    /// Jobs whose `run_at` is still to come.
    pub scheduled: i64,
    /// Jobs in flight.
    pub in_flight: i64,
    /// Jobs ever admitted (since the partition was last created).
    pub admitted: i64,
    /// When it is looked at next; none: nothing waits, or it is paused.
    pub due_at: Option<DateTime<Utc>>,
    /// Paused.
    pub paused: bool,
    /// Why its jobs wait, by the last look.
    pub denial: Option<String>,
    /// Recent activity as of the last look.
    pub recent: f64,
    /// When it was last looked at.
    pub checked_at: Option<DateTime<Utc>>,
    /// Its newest context, as text: no number is too large for it and no nesting too deep.
    #[sqlx(try_from = "String")]
    pub context: Context,
}

/// Partitions of a policy whose key contains `search` (taken literally).
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn partitions(
    conn: &mut PgConnection,
    policy: &fairgate_core::id::PolicyName,
    search: Option<&str>,
    sort: PartitionSort,
    limit: u32,
) -> Result<Vec<PartitionStatus>, crate::operate::OperateError> {
    let id = crate::operate::policy_id(conn, policy.as_str()).await?;
    let rows = crate::sql::query_as(include_str!("../queries/observe/list_partitions.sql"))
        .bind(id)
        .bind(search)
        .bind(sort.name())
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await
        .doing("listing partitions")?;
    Ok(rows)
}
