//! The schema: numbered migrations in `migrations/`, applied under a lock, each in its own transaction.

use sqlx::PgConnection;
use sqlx::migrate::Migrator;

use crate::error::{DatabaseError, Doing};

/// The migrations of schema `fairgate`, with their checksums.
pub static MIGRATOR: Migrator = sqlx::migrate!();

/// Why the schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The server is older than PostgreSQL 14.
    #[error("this server is PostgreSQL {found}; fairgate needs 14 or newer")]
    ServerTooOld {
        /// Its version, as it calls itself.
        found: String,
    },
    /// A migration failed, or the database holds migrations that this program does not know.
    #[error("migrating schema fairgate: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The version of the server could not be read.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Brings schema `fairgate` up to date. Safe to call from several programs at once; needs a direct connection (an advisory lock is held).
///
/// # Errors
/// See [`MigrateError`]. What had been applied before an error stays.
pub async fn migrate(conn: &mut PgConnection) -> Result<(), MigrateError> {
    let (number, found): (i32, String) =
        crate::sql::query_as(include_str!("../queries/registry/server_version.sql"))
            .fetch_one(&mut *conn)
            .await
            .doing("reading the server's version")?;
    if number < 140_000 {
        return Err(MigrateError::ServerTooOld { found });
    }
    MIGRATOR.run_direct(None, conn, false).await?;
    Ok(())
}

/// Whether the schema is there and holds every migration of this program.
///
/// # Errors
/// When the database does not answer.
pub async fn is_migrated(conn: &mut PgConnection) -> Result<bool, DatabaseError> {
    let there: bool = crate::sql::query_scalar(include_str!("../queries/registry/schema_exists.sql"))
        .fetch_one(&mut *conn)
        .await
        .doing("looking for schema fairgate")?;
    if !there {
        return Ok(false);
    }
    let applied: Vec<i64> =
        crate::sql::query_scalar(include_str!("../queries/registry/applied_migrations.sql"))
            .fetch_all(conn)
            .await
            .doing("reading the applied migrations")?;
    Ok(MIGRATOR.iter().all(|m| applied.contains(&m.version)))
}
