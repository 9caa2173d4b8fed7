//! Faults of the database, by SQLSTATE.

use fairgate::DatabaseError;
use sqlx::Error;

use super::CliError;

const POOLER: &str = "if the URL leads to a pooler in transaction mode such as PgBouncer, set `pooled = true` under [engine] \
for `fairgate run`, and use a direct URL for everything else";

impl CliError {
    /// The database has no schema `fairgate`, or an older one.
    pub(crate) fn not_migrated() -> Self {
        Self::failed("schema fairgate is not in this database, or is older than this program")
            .hint("run `fairgate migrate`")
    }

    /// No connection to the database at `place`.
    pub(crate) fn unreachable(place: &str, error: &Error) -> Self {
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        let (what, hint) = match code.as_deref() {
            Some("28P01" | "28000") => ("refuses the login", "check the user and the password in the URL"),
            Some("3D000") => {
                ("does not exist", "create it (createdb), or check the name at the end of the URL")
            }
            Some("53300") => ("has no connection left", "end some, or raise max_connections"),
            Some("57P03") => ("is not ready for connections", "try again in a moment"),
            _ if words(error).to_lowercase().contains("tls") => (
                "has no encrypted connection for us",
                "the server speaks no TLS, or the pooler before it; leave sslmode out of the URL, or set sslmode=prefer, or switch the server's `ssl` on",
            ),
            _ => (
                "cannot be reached",
                "is a PostgreSQL server listening there? The URL is the one of --database-url, FAIRGATE_DATABASE_URL or DATABASE_URL",
            ),
        };
        Self::failed(format!("the database {place} {what}")).cause(words(error)).hint(hint)
    }

    /// A migration that was not carried out.
    pub(super) fn migration(cause: sqlx::migrate::MigrateError) -> Self {
        use sqlx::migrate::MigrateError as Cause;
        let refusal = Self::failed("migrating schema fairgate failed");
        match cause {
            Cause::Execute(error) | Cause::ExecuteMigration(error, _) => {
                let hint = hint(&error).unwrap_or(
                    "what was applied before the error stays; run it again once the cause is mended",
                );
                refusal.cause(words(&error)).hint(hint)
            }
            other => refusal.cause(other.to_string()),
        }
    }
}

impl From<DatabaseError> for CliError {
    fn from(error: DatabaseError) -> Self {
        if matches!(error.sqlstate().as_deref(), Some("3F000" | "42P01" | "42883" | "42703")) {
            return Self::not_migrated().cause(error.message());
        }
        let hint = hint(&error.source).map(str::to_owned).or_else(|| error.hint());
        Self::failed(format!("{} failed", error.doing)).cause(words(&error.source)).maybe_hint(hint)
    }
}

/// What to do about a failed statement.
fn hint(error: &Error) -> Option<&'static str> {
    let Some(code) = error.as_database_error().and_then(sqlx::error::DatabaseError::code) else {
        return matches!(error, Error::Io(_) | Error::PoolTimedOut | Error::PoolClosed)
            .then_some("the connection was lost; is the server still running?");
    };
    match code.as_ref() {
        "42501" => Some(
            "the user of the URL lacks a privilege: migrate and apply need a user who may create in this database, \
             staging needs USAGE on schema fairgate",
        ),
        "26000" | "42P05" | "08P01" => Some(POOLER),
        "25006" => Some("this server is read-only; name the primary in the URL"),
        "57P01" | "57P02" | "57P03" => Some("the server is shutting down or starting; try again in a moment"),
        _ => None,
    }
}

/// The server's words alone, or the driver's.
fn words(error: &Error) -> String {
    match error {
        Error::Database(error) => error.message().to_owned(),
        Error::Io(error) => error.to_string(),
        Error::Protocol(words) => words.clone(),
        error => error.to_string(),
    }
}
