//! The virtual time of a lane under weighted fairness: read before a tick, moved after its commit.

use chrono::{DateTime, Utc};
use fairgate_core::fairness::weighted::{LaneAdvance, LaneState, LaneTotals};
use sqlx::{Connection, PgConnection};

use crate::error::{DatabaseError, Doing};
use crate::sql::{query, query_as, query_scalar};

/// The stored state of a lane. One that cannot be read counts as new: the tick must go on.
pub(crate) fn parse(text: &str) -> LaneState {
    serde_json::from_str(text).unwrap_or_default()
}

/// Sums over all partitions of a lane that are due.
pub(crate) async fn totals(
    conn: &mut PgConnection,
    shard_id: i32,
    now: DateTime<Utc>,
) -> Result<LaneTotals, DatabaseError> {
    let sql = include_str!("../queries/claim/lane_totals.sql");
    let (weight, weighed, partitions): (f64, i64, i64) =
        query_as(sql).bind(shard_id).bind(now).fetch_one(conn).await.doing("adding up a lane's weights")?;
    Ok(LaneTotals { weight, weighed: weighed.unsigned_abs(), partitions: partitions.unsigned_abs() })
}

/// Moves a lane's virtual time. False: somebody else has the row in hand, so the advance is to be carried to the next tick.
pub(crate) async fn advance(
    conn: &mut PgConnection,
    shard_id: i32,
    advance: &LaneAdvance,
) -> Result<bool, DatabaseError> {
    const DOING: &str = "moving a lane's virtual time";
    let begin = include_str!("../queries/settle/begin_advance.sql");
    let mut tx = conn.begin_with(begin).await.doing(DOING)?;
    let held: Result<Option<String>, DatabaseError> =
        query_scalar(include_str!("../queries/settle/lock_lane.sql"))
            .bind(shard_id)
            .fetch_optional(&mut *tx)
            .await
            .doing(DOING);
    let state = match held {
        Ok(Some(state)) => parse(&state),
        // The lane is gone with its policy.
        Ok(None) => return Ok(true),
        Err(error) if error.sqlstate().as_deref() == Some("55P03") => {
            tx.rollback().await.doing(DOING)?;
            return Ok(false);
        }
        Err(error) => return Err(error),
    };
    let moved = serde_json::to_string(&advance.apply(&state)).unwrap_or_else(|_| "{}".to_owned());
    query(include_str!("../queries/settle/write_lane_share.sql"))
        .bind(shard_id)
        .bind(moved)
        .execute(&mut *tx)
        .await
        .doing(DOING)?;
    tx.commit().await.doing(DOING)?;
    Ok(true)
}
