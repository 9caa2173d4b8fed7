use chrono::{DateTime, Utc};
use sqlx::PgConnection;

use crate::error::{DatabaseError, Doing};
use crate::sql::query;

/// An override is deleted if and only if it has ended, and its partition was looked at since, or is gone. A partition that nothing waits in is
/// made due for that look; the end of an override needs no sweep otherwise.
pub(super) async fn forget(
    conn: &mut PgConnection,
    now: Option<DateTime<Utc>>,
) -> Result<u64, DatabaseError> {
    const DOING: &str = "forgetting overrides";
    let look = include_str!("../../queries/sweep/look_after_overrides.sql");
    query(look).bind(now).execute(&mut *conn).await.doing(DOING)?;
    let delete = include_str!("../../queries/sweep/delete_ended_overrides.sql");
    Ok(query(delete).bind(now).execute(conn).await.doing(DOING)?.rows_affected())
}
