use chrono::{DateTime, Utc};
use fairgate_core::report::TickReport;
use fairgate_core::tick_plan::{Due, Settlement};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};

/// Writes back the settlements of a tick and its sample.
pub(crate) async fn settle(
    conn: &mut PgConnection,
    shard_id: i32,
    ids: &[Uuid],
    taken: &[u32],
    settlements: &[Settlement],
    report: &TickReport,
    now: DateTime<Utc>,
) -> Result<(), DatabaseError> {
    let number = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
    let denials = report.denials_json();
    let due_at = |s: &Settlement| match s.due {
        Due::At(at) => Some(at),
        Due::Idle | Due::Now => None,
    };
    crate::sql::query(include_str!("../queries/settle/settle_partitions.sql"))
        .bind(now)
        .bind(ids)
        .bind(taken.iter().map(|&n| number(n.into())).collect::<Vec<_>>())
        .bind(settlements.iter().map(|s| s.gates.as_str()).collect::<Vec<_>>())
        .bind(settlements.iter().map(|s| s.recent).collect::<Vec<_>>())
        .bind(settlements.iter().map(|s| s.recent_at).collect::<Vec<_>>())
        .bind(settlements.iter().map(|s| s.starved).collect::<Vec<_>>())
        .bind(settlements.iter().map(|s| s.denial.as_ref().map(|d| d.reason.code())).collect::<Vec<_>>())
        .bind(settlements.iter().map(|s| s.eligible_at).collect::<Vec<_>>())
        .bind(settlements.iter().map(|s| s.due == Due::Now).collect::<Vec<_>>())
        .bind(settlements.iter().map(due_at).collect::<Vec<_>>())
        .bind(shard_id)
        .bind(number(report.partitions_seen))
        .bind(number(report.partitions_admitted))
        .bind(number(report.partitions_denied))
        .bind(number(report.jobs_admitted))
        .bind(number(report.failures))
        .bind(denials)
        .bind(settlements.iter().map(|s| s.share.as_deref()).collect::<Vec<_>>())
        .execute(conn)
        .await
        .doing("settling partitions")?;
    Ok(())
}
