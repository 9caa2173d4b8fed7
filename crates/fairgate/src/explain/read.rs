use chrono::{DateTime, Utc};
use fairgate_core::context::Context;
use fairgate_core::id::{JobId, PartitionKey};
use fairgate_core::policy::Policy;
use sqlx::PgConnection;
use uuid::Uuid;

use super::partition::{Hold, PartitionExplanation};
use super::scopes::ScopeFacts;
use super::turn::Rivals;
use super::{InFlightJob, Slot, StagedJob};
use crate::error::{DatabaseError, Doing};
use crate::overrides::Override;
use crate::quarantine::QuarantinedJob;
use crate::sql::{query_as, query_scalar};

/// A partition in one snapshot, with the reports that wait.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Facts {
    pub(super) now: DateTime<Utc>,
    pub(super) policy: String,
    pub(super) definition: String,
    pub(super) key: String,
    #[sqlx(try_from = "String")]
    pub(super) context: Context,
    pub(super) pending: i64,
    pub(super) scheduled: i64,
    /// When the next scheduled job comes due.
    pub(super) next_at: Option<DateTime<Utc>>,
    pub(super) in_flight: i64,
    pub(super) gates: Option<String>,
    /// What its jobs that ended teach the gates, as the next look will fold it in.
    pub(super) lessons: String,
    /// Why it got nothing at its last look.
    pub(super) denial: Option<String>,
    pub(super) paused: bool,
    pub(super) policy_paused: bool,
    pub(super) enabled: bool,
    pub(super) engine_enabled: bool,
    pub(super) retired: bool,
    pub(super) queue: String,
    pub(super) queue_ready: bool,
    pub(super) queue_problem: String,
    pub(super) shows_starts: bool,
    pub(super) max_waiting: Option<i32>,
    pub(super) running: i32,
    pub(super) starts_per_second: f64,
    /// Jobs in the queue that no worker has begun, counted up to its limit.
    pub(super) queue_waiting: i64,
    pub(super) tickers: i64,
    /// No look before this can admit.
    pub(super) eligible_at: DateTime<Utc>,
    /// When a tick looks next.
    pub(super) look_at: DateTime<Utc>,
    #[sqlx(skip)]
    pub(super) rivals: Rivals,
    #[sqlx(skip)]
    pub(super) slots: Vec<Slot>,
    /// Those that the next look counts with: in force, or ended since the last one.
    #[sqlx(skip)]
    pub(super) overrides: Vec<Override>,
    #[sqlx(skip)]
    pub(super) scopes: Vec<ScopeFacts>,
}

/// None: the policy has no such partition, not even in a report.
pub(super) async fn partition(
    conn: &mut PgConnection,
    own: &[Policy],
    policy_id: i32,
    id: Uuid,
    now: Option<DateTime<Utc>>,
) -> Result<Option<Facts>, DatabaseError> {
    const DOING: &str = "reading a partition";
    let facts: Option<Facts> = query_as(include_str!("../../queries/explain/read_partition.sql"))
        .bind(policy_id)
        .bind(id)
        .bind(now)
        .fetch_optional(&mut *conn)
        .await
        .doing(DOING)?;
    let Some(mut facts) = facts else { return Ok(None) };
    facts.rivals = query_as(include_str!("../../queries/explain/read_rivals.sql"))
        .bind(policy_id)
        .bind(id)
        .bind(now)
        .fetch_one(&mut *conn)
        .await
        .doing(DOING)?;
    facts.slots = query_as(include_str!("../../queries/explain/list_holders.sql"))
        .bind(id)
        .fetch_all(&mut *conn)
        .await
        .doing(DOING)?;
    facts.overrides = query_as(include_str!("../../queries/explain/list_overrides.sql"))
        .bind(id)
        .fetch_all(&mut *conn)
        .await
        .doing(DOING)?;
    if let Ok(policy) = super::partition::policy(&facts, own) {
        facts.scopes = super::scopes::read(conn, &facts, &policy, policy_id, id).await?;
    }
    Ok(Some(facts))
}

pub(super) async fn partition_id(
    conn: &mut PgConnection,
    policy_id: i32,
    key: &PartitionKey,
) -> Result<Uuid, DatabaseError> {
    query_scalar(include_str!("../../queries/explain/partition_id.sql"))
        .bind(policy_id)
        .bind(key.as_str())
        .fetch_one(conn)
        .await
        .doing("looking up a partition")
}

/// A row of staging.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Found {
    #[sqlx(try_from = "Uuid")]
    job_id: JobId,
    pub(super) policy_id: i32,
    pub(super) partition_id: Uuid,
    task: String,
    priority: i32,
    pub(super) ready_at: DateTime<Utc>,
    run_at: Option<DateTime<Utc>>,
    staged_at: DateTime<Utc>,
    forward_attempts: i16,
    forward_error: Option<String>,
}

impl Found {
    pub(super) fn explained(
        self,
        earliest: Option<DateTime<Utc>>,
        holds: Vec<Hold>,
        ahead: i64,
        partition: PartitionExplanation,
    ) -> StagedJob {
        StagedJob {
            job_id: self.job_id,
            task: self.task,
            priority: self.priority,
            run_at: self.run_at,
            staged_at: self.staged_at,
            ahead,
            forward_attempts: self.forward_attempts,
            forward_error: self.forward_error,
            earliest,
            holds,
            partition,
        }
    }
}

pub(super) async fn staged(conn: &mut PgConnection, job: JobId) -> Result<Option<Found>, DatabaseError> {
    query_as(include_str!("../../queries/explain/find_staged.sql"))
        .bind(job.as_uuid())
        .fetch_optional(conn)
        .await
        .doing("looking for a staged job")
}

/// Jobs of its partition that may go before it at an instant.
pub(super) async fn ahead(
    conn: &mut PgConnection,
    job: JobId,
    now: Option<DateTime<Utc>>,
    at: Option<DateTime<Utc>>,
) -> Result<i64, DatabaseError> {
    query_scalar(include_str!("../../queries/explain/count_ahead.sql"))
        .bind(job.as_uuid())
        .bind(now)
        .bind(at)
        .fetch_one(conn)
        .await
        .doing("counting what goes before a job")
}

pub(super) async fn in_flight(
    conn: &mut PgConnection,
    job: JobId,
) -> Result<Option<InFlightJob>, DatabaseError> {
    query_as(include_str!("../../queries/explain/find_in_flight.sql"))
        .bind(job.as_uuid())
        .fetch_optional(conn)
        .await
        .doing("looking for a job in flight")
}

pub(super) async fn quarantined(
    conn: &mut PgConnection,
    job: JobId,
) -> Result<Option<QuarantinedJob>, DatabaseError> {
    query_as(include_str!("../../queries/explain/find_quarantined.sql"))
        .bind(job.as_uuid())
        .fetch_optional(conn)
        .await
        .doing("looking for a quarantined job")
}
