use std::time::Duration;

use fairgate_core::hint::{self, EngineFacts, Hint, PolicyFacts, THRESHOLDS};
use fairgate_core::reason::DenyReason;
use serde::Serialize;
use sqlx::PgConnection;

use super::{PolicyStatus, Status};
use crate::error::{DatabaseError, Doing};
use crate::settings::Settings;

/// Looks and ticks of a policy in the last minutes.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct PolicyNumbers {
    /// Its name.
    pub name: String,
    /// Partitions in which jobs wait.
    pub waiting_partitions: i64,
    /// Those of them that have waited too long for their first look.
    pub never_checked: i64,
    /// Seconds since the last look, of half of those in which jobs wait; none where none was looked at.
    pub look_age_p50: Option<f64>,
    /// The same of 95 of 100.
    pub look_age_p95: Option<f64>,
    /// The same of all.
    pub look_age_max: Option<f64>,
    /// Jobs admitted in the last minute.
    pub admitted_1m: i64,
    /// Jobs admitted in the last 5 minutes.
    pub admitted_5m: i64,
    /// Jobs admitted in the last 15 minutes.
    pub admitted_15m: i64,
    /// What the queue refused in the last 5 minutes.
    pub failures_5m: i64,
    /// The slowest tick of the last minute, in milliseconds.
    pub slowest_tick_ms: f64,
    /// Jobs that went a minute, over the same samples as those that came.
    pub admitted_per_minute: Option<f64>,
    /// Jobs that came a minute, by the samples of the last 5 minutes; none while those are of less than one.
    pub arrived_per_minute: Option<f64>,
}

/// A queue behind us.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct QueueStatus {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// The schema of its tables.
    pub schema_name: String,
    /// Whether it takes jobs.
    pub ready: bool,
    /// Why not.
    pub problem: Option<String>,
    /// Jobs that it may hold and no worker has begun. None: fits itself to the workers; 0: any number.
    pub max_waiting: Option<i32>,
    /// Whether its tables show when a job starts.
    pub shows_starts: bool,
    /// Jobs that ran at the last gauge.
    pub running: i32,
    /// Jobs that began a second, by the last gauge.
    pub starts_per_second: f64,
    /// Jobs that it holds and no worker has begun; counted where it has a limit, up to a thousand more than that.
    pub waiting: i64,
}

/// Looks and ticks of every policy, in the order of [`policies`](super::policies).
///
/// # Errors
/// When the database does not answer.
pub async fn policy_numbers(conn: &mut PgConnection) -> Result<Vec<PolicyNumbers>, DatabaseError> {
    crate::sql::query_as(include_str!("../../queries/observe/policy_numbers.sql"))
        .bind(THRESHOLDS.first_look_within.as_secs_f64())
        .fetch_all(conn)
        .await
        .doing("reading the policies' numbers")
}

/// The queues, by name.
///
/// # Errors
/// When the database does not answer.
pub async fn queues(conn: &mut PgConnection) -> Result<Vec<QueueStatus>, DatabaseError> {
    crate::sql::query_as(include_str!("../../queries/observe/list_queues.sql"))
        .fetch_all(conn)
        .await
        .doing("reading the queues")
}

/// What an operator should look at, the most urgent first.
///
/// # Errors
/// When the database does not answer.
pub async fn hints(
    conn: &mut PgConnection,
    settings: &Settings,
    status: &Status,
    numbers: &[PolicyNumbers],
) -> Result<Vec<Hint>, DatabaseError> {
    let oldest: Option<(f64, String)> =
        crate::sql::query_as(include_str!("../../queries/observe/oldest_snapshot.sql"))
            .fetch_optional(conn)
            .await
            .doing("looking for old transactions")?;
    let engine = EngineFacts {
        enabled: status.enabled,
        tickers: status.tickers,
        tick_max: settings.tick_max_duration,
        target: settings.throughput_target,
        oldest_snapshot: oldest
            .map(|(seconds, whose)| (Duration::try_from_secs_f64(seconds).unwrap_or_default(), whose)),
    };
    let of = |policy: &PolicyStatus| {
        let numbers = numbers.iter().find(|numbers| numbers.name == policy.name);
        facts(status, policy, numbers)
    };
    let policies: Vec<PolicyFacts> = status.policies.iter().map(of).collect();
    Ok(hint::hints(&engine, &policies, &THRESHOLDS))
}

fn facts(status: &Status, policy: &PolicyStatus, numbers: Option<&PolicyNumbers>) -> PolicyFacts {
    let (mut gate_denials, mut queue_denials) = (0, 0);
    for (code, looks) in policy.denials_last_minute.as_object().into_iter().flatten() {
        let looks = looks.as_i64().unwrap_or(0);
        match DenyReason::from_code(code) {
            Some(DenyReason::QueueFull) => queue_denials += looks,
            Some(DenyReason::RateLimited | DenyReason::ConcurrencyFull | DenyReason::AdaptiveFull) => {
                gate_denials += looks;
            }
            _ => {}
        }
    }
    PolicyFacts {
        name: policy.name.clone(),
        // A switch for everything is told once.
        enabled: policy.enabled || !status.enabled,
        paused: policy.paused,
        retired: policy.retired,
        queue_problem: (!policy.queue_ready)
            .then(|| policy.queue_problem.clone().unwrap_or_else(|| "unknown".to_owned())),
        pending: policy.pending,
        partitions: policy.partitions,
        quarantined: policy.quarantined,
        admitted: numbers
            .map_or(0.0, |numbers| numbers.admitted_per_minute.unwrap_or(numbers.admitted_5m as f64 / 5.0)),
        arrived: numbers.and_then(|numbers| numbers.arrived_per_minute),
        failures: numbers.map_or(0, |numbers| numbers.failures_5m),
        slowest_tick: numbers.map_or(Duration::ZERO, |numbers| {
            Duration::try_from_secs_f64(numbers.slowest_tick_ms / 1000.0).unwrap_or_default()
        }),
        never_checked: numbers.map_or(0, |numbers| numbers.never_checked),
        gate_denials,
        queue_denials,
    }
}
