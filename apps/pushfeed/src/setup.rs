//! The database as the commands need it.

use fairgate::Ticker;
use fairgate::queue::GraphileWorker;
use sqlx::PgConnection;
use sqlx::migrate::Migrator;

use crate::app::App;
use crate::error::{Doing, FeedError};
use crate::service::{QUEUE, SCHEMA, policy};

/// The migrations of schema `pushfeed`.
pub static MIGRATOR: Migrator = sqlx::migrate!();

/// Brings everything up to date: fairgate's schema, ours, the queue's, and the policy with its hooks. Safe to call from several programs at once.
///
/// # Errors
/// When the database refuses.
pub async fn migrate(app: &App) -> Result<(), FeedError> {
    tables(app).await?;
    crate::service::worker(app.pool.clone(), None).await?;
    ticker(app).await?;
    Ok(())
}

/// Installs the tables if they are not there, as on a fresh database.
///
/// # Errors
/// When the database refuses.
pub async fn ensure(app: &App) -> Result<(), FeedError> {
    let mut conn = app.connect().await?;
    if !is_migrated(&mut conn).await? {
        tables(app).await?;
    }
    Ok(())
}

/// Whether the tables are there, as this program knows them.
///
/// # Errors
/// When the database does not answer.
pub async fn is_migrated(conn: &mut PgConnection) -> Result<bool, FeedError> {
    let there: bool = sqlx::query_scalar(include_str!("../queries/status/is_installed.sql"))
        .fetch_one(&mut *conn)
        .await
        .doing("looking for schema pushfeed")?;
    if !there || !fairgate::migrate::is_migrated(conn).await? {
        return Ok(false);
    }
    let applied: Vec<i64> = sqlx::query_scalar(include_str!("../queries/status/applied_migrations.sql"))
        .fetch_all(conn)
        .await
        .doing("reading the applied migrations")?;
    Ok(MIGRATOR.iter().all(|migration| applied.contains(&migration.version)))
}

async fn tables(app: &App) -> Result<(), FeedError> {
    let mut conn = app.connect().await?;
    fairgate::migrate(&mut conn).await.map_err(|error| FeedError::failed(error.to_string()))?;
    let migrated = MIGRATOR.run_direct(None, &mut conn, false).await;
    migrated.map_err(|error| FeedError::failed(format!("migrating schema pushfeed: {error}")))
}

/// The ticker of our policy, registered.
pub(crate) async fn ticker(app: &App) -> Result<Ticker, FeedError> {
    let failed = |error: &dyn std::fmt::Display| FeedError::failed(error.to_string());
    let queue = GraphileWorker::new(SCHEMA).map_err(|error| failed(&error))?;
    let policy = policy()?;
    let builder = Ticker::builder(app.pool.clone()).queue(QUEUE, queue).map_err(|error| failed(&error))?;
    let builder = builder.only_policy(policy.name()).policy(policy);
    builder.register().await.map_err(|error| failed(&error))
}
