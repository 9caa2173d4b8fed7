//! Locking scopes, and reading them as the plan does.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use fairgate_core::context::Context;
use fairgate_core::tick_plan::HeldScope;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};

#[derive(sqlx::FromRow)]
pub(super) struct ScopeRow {
    id: Uuid,
    in_flight: i64,
    states: Option<String>,
    context: String,
    waited: bool,
    woken: i64,
}

/// The scopes that this transaction holds.
pub(super) type Locked = HashMap<Uuid, ScopeRow>;

/// Locks those that nobody else holds, in the order of their ids.
pub(super) async fn lock(
    conn: &mut PgConnection,
    ids: &[Uuid],
    clock: Option<DateTime<Utc>>,
) -> Result<Locked, DatabaseError> {
    if ids.is_empty() {
        return Ok(Locked::default());
    }
    let rows: Vec<ScopeRow> = crate::sql::query_as(include_str!("../../queries/scopes/lock_scopes.sql"))
        .bind(ids)
        .bind(clock)
        .fetch_all(conn)
        .await
        .doing("locking scopes")?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

/// Waits for those that somebody holds, in the order of their ids. Ticks and wake-ups, which hold scopes, wait for nobody.
pub(super) async fn wait_for(
    conn: &mut PgConnection,
    ids: &[Uuid],
    clock: Option<DateTime<Utc>>,
) -> Result<Locked, DatabaseError> {
    let sql = include_str!("../../queries/scopes/lock_scopes.sql").replace("SKIP LOCKED", "");
    let rows: Vec<ScopeRow> = crate::sql::query_as(sqlx::AssertSqlSafe(sql))
        .bind(ids)
        .bind(clock)
        .fetch_all(conn)
        .await
        .doing("waiting for scopes")?;
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

/// Of these scopes, those that have a row.
pub(super) async fn existing(conn: &mut PgConnection, ids: &[Uuid]) -> Result<HashSet<Uuid>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let sql = include_str!("../../queries/scopes/existing_scopes.sql");
    let found: Vec<Uuid> =
        crate::sql::query_scalar(sql).bind(ids).fetch_all(conn).await.doing("looking for scopes")?;
    Ok(found.into_iter().collect())
}

pub(super) fn held(row: &ScopeRow, gate: usize) -> Result<HeldScope, DatabaseError> {
    let (in_flight, waited, woken) = (row.in_flight, row.waited, row.woken);
    Ok(HeldScope {
        gate,
        context: context(&row.context)?,
        in_flight,
        states: row.states.clone(),
        waited,
        woken,
    })
}

pub(crate) fn context(text: &str) -> Result<Context, DatabaseError> {
    Context::parse(text)
        .map_err(|e| sqlx::Error::Decode(e.to_string().into()))
        .doing("reading the context of a scope")
}
