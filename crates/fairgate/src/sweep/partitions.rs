use chrono::{DateTime, Utc};
use fairgate_core::pipeline::GateStates;
use sqlx::PgConnection;
use uuid::Uuid;

use super::interval;
use crate::error::{DatabaseError, Doing};
use crate::settings::Settings;

/// Partitions that one sweep looks at; the next goes on from there.
const STRETCH: i64 = 20_000;

/// A partition, or a scope, that a sweep looks at.
#[derive(sqlx::FromRow)]
pub(super) struct Seen {
    pub(super) id: Uuid,
    pub(super) gates: Option<String>,
    pub(super) now: DateTime<Utc>,
    pub(super) idle: bool,
}

/// A partition is marked if and only if it is empty, nothing has happened to it for `partition_inactive_after`, and forgetting its gates
/// would reset no limit. `place` moves through the table, one stretch a sweep.
pub(super) async fn mark(
    conn: &mut PgConnection,
    settings: &Settings,
    now: Option<DateTime<Utc>>,
    place: &mut Uuid,
) -> Result<u64, DatabaseError> {
    let seen: Vec<Seen> = crate::sql::query_as(include_str!("../../queries/sweep/list_idle_partitions.sql"))
        .bind(interval(settings.partition_inactive_after))
        .bind(now)
        .bind(*place)
        .bind(STRETCH)
        .fetch_all(&mut *conn)
        .await
        .doing("listing idle partitions")?;
    *place = seen.last().map_or(Uuid::nil(), |row| row.id);
    let rests = |row: &Seen| row.idle && GateStates::parse(row.gates.as_deref()).at_rest(row.now);
    let resting: Vec<Uuid> = seen.iter().filter(|row| rests(row)).map(|row| row.id).collect();
    if resting.is_empty() {
        return Ok(0);
    }
    let sql = include_str!("../../queries/sweep/mark_removing.sql");
    Ok(crate::sql::query(sql)
        .bind(resting)
        .execute(conn)
        .await
        .doing("marking idle partitions")?
        .rows_affected())
}

/// A partition is deleted if and only if it was marked, every transaction that ran then has ended, and it is idle still.
/// One that is staged to at this moment comes back with that report.
pub(super) async fn delete_marked(
    conn: &mut PgConnection,
    settings: &Settings,
    now: Option<DateTime<Utc>>,
) -> Result<i64, DatabaseError> {
    crate::sql::query_scalar(include_str!("../../queries/sweep/delete_marked.sql"))
        .bind(interval(settings.partition_inactive_after))
        .bind(now)
        .fetch_one(conn)
        .await
        .doing("deleting idle partitions")
}
