use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use fairgate_core::id::PolicyName;
use serde::Serialize;
use sqlx::PgConnection;

use crate::error::Doing;
use crate::operate::{OperateError, policy_id};

/// Denied looks for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DenialCount {
    /// The reason's code; `shadow:` before it where a shadow gate would have denied.
    pub reason: String,
    /// Looks.
    pub looks: i64,
}

/// What ticks did in one step of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Bucket {
    /// Its beginning.
    pub at: DateTime<Utc>,
    /// Jobs admitted.
    pub admitted: i64,
    /// What queues refused.
    pub failures: i64,
    /// Looks that admitted nothing.
    pub denied: i64,
    /// Jobs that waited; a lane without a tick in this step counts as before. None before the first sample.
    pub pending: Option<i64>,
    /// Jobs in flight, the same way.
    pub in_flight: Option<i64>,
    /// The slowest tick, in milliseconds; none without a tick.
    pub slowest_tick_ms: Option<f64>,
    /// Denied looks by reason.
    pub denials: Vec<DenialCount>,
}

/// Ticks over time, the oldest first, without gaps.
#[derive(Debug, Clone, Serialize)]
pub struct Trend {
    /// Seconds that a bucket is long.
    pub step_seconds: u64,
    /// The buckets; the last one is under way.
    pub buckets: Vec<Bucket>,
}

#[derive(sqlx::FromRow)]
struct Row {
    at: DateTime<Utc>,
    shard_id: i32,
    admitted: i64,
    failures: i64,
    denied: i64,
    pending: i64,
    in_flight: i64,
    slowest_ms: f64,
}

/// What the ticks of a policy, or all, did in the last `steps` steps.
///
/// # Errors
/// When no such policy is registered, or the database does not answer.
pub async fn trend(
    conn: &mut PgConnection,
    policy: Option<&PolicyName>,
    step: Duration,
    steps: u16,
) -> Result<Trend, OperateError> {
    let id = match policy {
        Some(policy) => Some(policy_id(conn, policy.as_str()).await?),
        None => None,
    };
    let step_seconds = step.as_secs().max(1);
    let window = step_seconds * u64::from(steps);
    let rows: Vec<Row> = crate::sql::query_as(include_str!("../../queries/observe/sample_buckets.sql"))
        .bind(id)
        .bind(window as f64)
        .bind(step_seconds as f64)
        .fetch_all(&mut *conn)
        .await
        .doing("reading samples")?;
    let denials: Vec<(DateTime<Utc>, String, i64)> =
        crate::sql::query_as(include_str!("../../queries/observe/denial_buckets.sql"))
            .bind(id)
            .bind(window as f64)
            .bind(step_seconds as f64)
            .fetch_all(&mut *conn)
            .await
            .doing("reading denials")?;
    let now = super::now(conn).await?;
    let buckets = fold(rows, denials, now, i64::try_from(step_seconds).unwrap_or(i64::MAX), steps);
    Ok(Trend { step_seconds, buckets })
}

fn fold(
    rows: Vec<Row>,
    denials: Vec<(DateTime<Utc>, String, i64)>,
    now: DateTime<Utc>,
    step: i64,
    steps: u16,
) -> Vec<Bucket> {
    let mut by_time: BTreeMap<DateTime<Utc>, Vec<Row>> = BTreeMap::new();
    for row in rows {
        by_time.entry(row.at).or_default().push(row);
    }
    let mut denied: BTreeMap<DateTime<Utc>, Vec<DenialCount>> = BTreeMap::new();
    for (at, reason, looks) in denials {
        denied.entry(at).or_default().push(DenialCount { reason, looks });
    }
    // Steps of the server begin at 2000-01-01.
    let origin = DateTime::from_timestamp(946_684_800, 0).expect("a time in range");
    let last = (now - origin).num_seconds().div_euclid(step);
    let mut lanes: HashMap<i32, (i64, i64)> = HashMap::new();
    (0..i64::from(steps))
        .map(|index| {
            let at = origin + TimeDelta::seconds((last - i64::from(steps) + 1 + index) * step);
            let mut bucket = Bucket { at, ..Bucket::default() };
            for row in by_time.remove(&at).unwrap_or_default() {
                bucket.admitted += row.admitted;
                bucket.failures += row.failures;
                bucket.denied += row.denied;
                let slowest = bucket.slowest_tick_ms.unwrap_or(0.0).max(row.slowest_ms);
                bucket.slowest_tick_ms = Some(slowest);
                lanes.insert(row.shard_id, (row.pending, row.in_flight));
            }
            if !lanes.is_empty() {
                bucket.pending = Some(lanes.values().map(|(pending, _)| pending).sum());
                bucket.in_flight = Some(lanes.values().map(|(_, in_flight)| in_flight).sum());
            }
            bucket.denials = denied.remove(&at).unwrap_or_default();
            bucket
        })
        .collect()
}
