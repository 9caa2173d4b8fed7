//! The demo's own record in the database: written here and by triggers, read by the audit.

use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::database_error;
use super::endpoint::Received;
use super::rules::{Limit, Throttle};
use super::tenants::Tenants;
use crate::error::CliError;

/// Makes the record anew: empty tables, the triggers, and what each tenant is allowed.
///
/// # Errors
/// When the database refuses.
pub(super) async fn open(conn: &mut PgConnection, tenants: &Tenants) -> Result<(), CliError> {
    const DOING: &str = "making the demo's own record (schema fairgate_demo)";
    sqlx::raw_sql(include_str!("../../queries/demo/record_schema.sql"))
        .execute(&mut *conn)
        .await
        .map_err(database_error(DOING))?;
    let number = |place: usize| i32::try_from(place).unwrap_or(i32::MAX);
    let cap = |limit| match limit {
        Limit::Cap(max) => Some(i64::from(max)),
        Limit::Throttle(_) | Limit::None => None,
    };
    let throttle = |limit, get: fn(Throttle) -> u32| match limit {
        Limit::Throttle(throttle) => Some(i64::from(get(throttle))),
        Limit::Cap(_) | Limit::None => None,
    };
    sqlx::query(include_str!("../../queries/demo/insert_rules.sql"))
        .bind((0..tenants.iter().len()).map(number).collect::<Vec<_>>())
        .bind(tenants.iter().map(|tenant| tenant.route.policy()).collect::<Vec<_>>())
        .bind(tenants.iter().map(|tenant| tenant.owner.as_str()).collect::<Vec<_>>())
        .bind(tenants.iter().map(|tenant| cap(tenant.limit())).collect::<Vec<_>>())
        .bind(tenants.iter().map(|tenant| throttle(tenant.limit(), |t| t.rate)).collect::<Vec<_>>())
        .bind(tenants.iter().map(|tenant| throttle(tenant.limit(), |t| t.burst)).collect::<Vec<_>>())
        .execute(conn)
        .await
        .map_err(database_error(DOING))?;
    Ok(())
}

/// Takes the triggers away; the tables stay, to look at.
///
/// # Errors
/// When the database refuses.
pub(super) async fn close(conn: &mut PgConnection) -> Result<(), CliError> {
    sqlx::raw_sql(include_str!("../../queries/demo/remove_triggers.sql"))
        .execute(conn)
        .await
        .map_err(database_error("removing the demo's triggers"))?;
    Ok(())
}

/// Records jobs (id, tenant) in the transaction that stages them.
///
/// # Errors
/// When the database refuses.
pub(super) async fn staged(conn: &mut PgConnection, jobs: &[(Uuid, usize)]) -> Result<(), CliError> {
    sqlx::query(include_str!("../../queries/demo/insert_staged.sql"))
        .bind(jobs.iter().map(|(job, _)| *job).collect::<Vec<_>>())
        .bind(jobs.iter().map(|(_, place)| i32::try_from(*place).unwrap_or(i32::MAX)).collect::<Vec<_>>())
        .execute(conn)
        .await
        .map_err(database_error("recording what was staged"))?;
    Ok(())
}

/// Records what the endpoint received.
///
/// # Errors
/// When the database refuses.
pub(super) async fn received(conn: &mut PgConnection, deliveries: &[Received]) -> Result<(), CliError> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let place = |delivery: &Received| i32::try_from(delivery.place).unwrap_or(i32::MAX);
    sqlx::query(include_str!("../../queries/demo/insert_received.sql"))
        .bind(deliveries.iter().map(|delivery| delivery.job).collect::<Vec<_>>())
        .bind(deliveries.iter().map(place).collect::<Vec<_>>())
        .bind(deliveries.iter().map(|delivery| delivery.at).collect::<Vec<_>>())
        .execute(conn)
        .await
        .map_err(database_error("recording what was received"))?;
    Ok(())
}

/// A tenant as the live table needs it.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub(super) struct Live {
    place: i32,
    /// Staged, not admitted yet.
    pub(super) waiting: i64,
    pub(super) in_flight: i64,
    /// Of the job that has waited longest among them.
    pub(super) longest_wait_ms: i64,
}

/// A tenant at the end.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub(super) struct Final {
    #[serde(skip)]
    place: i32,
    pub(super) staged: i64,
    pub(super) admitted: i64,
    pub(super) in_flight: i64,
    /// Distinct deliveries that the endpoint received.
    pub(super) done: i64,
    /// Deliveries that it received once more.
    pub(super) duplicates: i64,
    /// At once.
    pub(super) most_in_flight: i64,
    /// Between staging and admission.
    pub(super) longest_wait_ms: i64,
}

impl Live {
    pub(super) fn place(self) -> usize {
        usize::try_from(self.place).unwrap_or(usize::MAX)
    }
}

impl Final {
    pub(super) fn place(&self) -> usize {
        usize::try_from(self.place).unwrap_or(usize::MAX)
    }
}

/// All tenants at this moment.
///
/// # Errors
/// When the database does not answer.
pub(super) async fn live(conn: &mut PgConnection) -> Result<Vec<Live>, CliError> {
    sqlx::query_as(include_str!("../../queries/demo/live_tenants.sql"))
        .fetch_all(conn)
        .await
        .map_err(database_error("reading what the tenants do"))
}

/// All tenants at the end, in their order.
///
/// # Errors
/// When the database does not answer.
pub(super) async fn finals(conn: &mut PgConnection) -> Result<Vec<Final>, CliError> {
    sqlx::query_as(include_str!("../../queries/demo/final_tenants.sql"))
        .fetch_all(conn)
        .await
        .map_err(database_error("reading what became of the tenants"))
}
