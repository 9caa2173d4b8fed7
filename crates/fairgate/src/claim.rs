use chrono::{DateTime, Utc};
use fairgate_core::context::Context;
use fairgate_core::fairness::weighted::Samples;
use fairgate_core::id::PartitionKey;
use fairgate_core::tick_plan::Claimed;
use sqlx::{PgConnection, SqlSafeStr};
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::lane::OpenLane;

/// What a claim brought back: the facts of every locked partition, longest due first.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) now: DateTime<Utc>,
    /// The policy's revision in this transaction.
    pub(crate) revision: i32,
    pub(crate) ids: Vec<Uuid>,
    pub(crate) facts: Vec<Claimed>,
    /// How each stands with its scopes; of a policy that has some.
    pub(crate) places: Vec<StoredPlace>,
}

/// How a partition stands with its scopes, as it is stored.
#[derive(Debug, Default)]
pub(crate) struct StoredPlace {
    /// What it counted towards at its last look.
    pub(crate) scopes: Option<Vec<Uuid>>,
    pub(crate) woken: bool,
    pub(crate) context_seq: i64,
    /// Since when it waits.
    pub(crate) since: Option<DateTime<Utc>>,
}

/// The facts of one partition, as they are read.
#[derive(sqlx::FromRow)]
pub(crate) struct Row {
    id: Uuid,
    key: String,
    context: String,
    pending: i64,
    in_flight: i64,
    gates: Option<String>,
    recent: f64,
    recent_at: DateTime<Utc>,
    starved: bool,
    lessons: Option<String>,
    share: Option<String>,
    correction: f64,
    finished_jobs: i32,
    finished_seconds: f64,
    overrides: Option<String>,
    #[sqlx(default)]
    scopes: Option<Vec<Uuid>>,
    #[sqlx(default)]
    woken: bool,
    #[sqlx(default)]
    context_seq: i64,
    #[sqlx(default)]
    since: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
    revision: i32,
}

/// Holds the policy open until the transaction ends: `pause` and `apply` wait for it. False: one of them is at it.
/// Beside it, how many jobs wait in the queue, counted up to `most`.
pub(crate) async fn hold_policy_open(
    conn: &mut PgConnection,
    policy_id: i32,
    queue_id: i32,
    most: u64,
) -> Result<(bool, u64), DatabaseError> {
    let (held, waiting): (bool, i64) =
        crate::sql::query_as(include_str!("../queries/claim/hold_policy_open.sql"))
            .bind(policy_id)
            .bind(queue_id)
            .bind(i64::try_from(most).unwrap_or(i64::MAX))
            .fetch_one(conn)
            .await
            .doing("holding the policy open")?;
    Ok((held, waiting.unsigned_abs()))
}

/// Locks up to `limit` due partitions of a lane, or this ticker's part of them where several are at work. `among`: only of these, which the
/// statement must then take. None: nothing is due, or the policy is paused, disabled or retired.
pub(crate) async fn claim_with(
    conn: &mut PgConnection,
    sql: impl SqlSafeStr,
    policy_id: i32,
    lane: &OpenLane,
    limit: u32,
    now: Option<DateTime<Utc>>,
    among: Option<Vec<Uuid>>,
) -> Result<Option<Claim>, DatabaseError> {
    const DOING: &str = "claiming due partitions";
    let mut claim = crate::sql::query_as(sql)
        .bind(policy_id)
        .bind(lane.shard_id)
        .bind(i64::from(limit))
        .bind(now)
        .bind(lane.tickers);
    if let Some(among) = among {
        claim = claim.bind(among);
    }
    gather(claim.fetch_all(conn).await.doing(DOING)?).doing(DOING)
}

/// The facts of the rows, in their order. None: there is no row.
pub(crate) fn gather(rows: Vec<Row>) -> Result<Option<Claim>, sqlx::Error> {
    let Some(first) = rows.first() else { return Ok(None) };
    let mut claim = Claim {
        now: first.now,
        revision: first.revision,
        ids: Vec::with_capacity(rows.len()),
        facts: Vec::with_capacity(rows.len()),
        places: Vec::with_capacity(rows.len()),
    };
    for row in rows {
        // The CHECK constraints of the tables promise both.
        let broken = |e: String| sqlx::Error::Decode(e.into());
        let key = PartitionKey::try_from(row.key).map_err(|e| broken(e.to_string()))?;
        let context = Context::parse(&row.context).map_err(|e| broken(e.to_string()))?;
        claim.ids.push(row.id);
        let (scopes, woken, context_seq, since) = (row.scopes, row.woken, row.context_seq, row.since);
        claim.places.push(StoredPlace { scopes, woken, context_seq, since });
        claim.facts.push(Claimed {
            key,
            context,
            pending: row.pending,
            in_flight: row.in_flight,
            gates: row.gates,
            observations: row.lessons,
            recent: row.recent,
            recent_at: row.recent_at,
            starved: row.starved,
            share: row.share,
            correction: row.correction,
            finished: Samples { jobs: row.finished_jobs.unsigned_abs(), seconds: row.finished_seconds },
            overrides: row.overrides,
        });
    }
    Ok(Some(claim))
}
