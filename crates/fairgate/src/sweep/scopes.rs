use chrono::{DateTime, Utc};
use fairgate_core::pipeline::GateStates;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Seen, interval};
use crate::error::{DatabaseError, Doing};
use crate::settings::Settings;

/// Scopes that one sweep looks at; the next goes on from there.
const STRETCH: i64 = 20_000;

/// A scope is deleted if and only if no job holds it, nobody waits for it, nothing has happened to it for `partition_inactive_after`, and
/// forgetting its gate would reset no limit. One step is enough: whoever needs it has it created again, with the same id.
pub(super) async fn delete_idle(
    conn: &mut PgConnection,
    settings: &Settings,
    now: Option<DateTime<Utc>>,
    place: &mut Uuid,
) -> Result<u64, DatabaseError> {
    let seen: Vec<Seen> = crate::sql::query_as(include_str!("../../queries/sweep/list_idle_scopes.sql"))
        .bind(interval(settings.partition_inactive_after))
        .bind(now)
        .bind(*place)
        .bind(STRETCH)
        .fetch_all(&mut *conn)
        .await
        .doing("listing idle scopes")?;
    *place = seen.last().map_or(Uuid::nil(), |row| row.id);
    let rests = |row: &&Seen| row.idle && GateStates::parse(row.gates.as_deref()).at_rest(row.now);
    let resting: Vec<Uuid> = seen.iter().filter(rests).map(|row| row.id).collect();
    if resting.is_empty() {
        return Ok(0);
    }
    let done = crate::sql::query(include_str!("../../queries/sweep/delete_scopes.sql"))
        .bind(interval(settings.partition_inactive_after))
        .bind(now)
        .bind(resting)
        .execute(conn)
        .await
        .doing("deleting idle scopes")?;
    Ok(done.rows_affected())
}
