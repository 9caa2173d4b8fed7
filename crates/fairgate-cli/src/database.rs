//! Which database, and connections to it.

use std::future::Future;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, PgConnection, Postgres};

use crate::args::DatabaseArgs;
use crate::error::CliError;

/// How long the server may take to answer the first time.
const PATIENCE: Duration = Duration::from_secs(10);
/// A ticker uses one connection at a time and one more to listen.
const TICKER_CONNECTIONS: u32 = 3;
/// Pages that can be computed at one time.
const ADMIN_CONNECTIONS: u32 = 4;
/// The environment variables that name the database, the first one that is set wins.
const VARIABLES: [&str; 2] = ["FAIRGATE_DATABASE_URL", "DATABASE_URL"];

/// The URL that the arguments or the environment name, if any.
pub(crate) fn url(args: &DatabaseArgs) -> Option<String> {
    let variable = |name: &&str| std::env::var(name).ok().filter(|url| !url.is_empty());
    args.database_url.clone().or_else(|| VARIABLES.iter().find_map(variable))
}

/// A connection.
pub(crate) async fn connect(args: &DatabaseArgs) -> Result<PgConnection, CliError> {
    let options = options(args)?;
    patiently(&options, options.connect()).await
}

/// A connection to a database with our schema as this program knows it.
pub(crate) async fn connect_migrated(args: &DatabaseArgs) -> Result<PgConnection, CliError> {
    let mut connection = connect(args).await?;
    require_schema(&mut connection).await?;
    Ok(connection)
}

/// Refuses a database without our schema, or with an older one.
pub(crate) async fn require_schema(connection: &mut PgConnection) -> Result<(), CliError> {
    if fairgate::migrate::is_migrated(connection).await? { Ok(()) } else { Err(CliError::not_migrated()) }
}

/// A pool for a ticker; `pooled`: behind a pooler in transaction mode, where statements must not be cached.
pub(crate) async fn ticker_pool(args: &DatabaseArgs, pooled: bool) -> Result<PgPool, CliError> {
    let mut options = options(args)?;
    if pooled {
        options = options.statement_cache_capacity(0);
    }
    // A pool tries again until its time is up; a single connection says at once what is wrong.
    drop(patiently(&options, options.connect()).await?);
    let pool = PgPoolOptions::new().max_connections(TICKER_CONNECTIONS).connect_lazy_with(options.clone());
    patiently(&options, pool.acquire()).await?;
    Ok(pool)
}

/// A pool for the admin pages, none of whose connections is open yet.
pub(crate) fn admin_pool(args: &DatabaseArgs, pooled: bool) -> Result<PgPool, CliError> {
    let mut options = options(args)?.application_name("fairgate admin");
    if pooled {
        options = options.statement_cache_capacity(0);
    }
    let pool = PgPoolOptions::new().max_connections(ADMIN_CONNECTIONS).acquire_timeout(PATIENCE);
    Ok(pool.connect_lazy_with(options))
}

/// A connection of the pool.
pub(crate) async fn acquire(pool: &PgPool) -> Result<PoolConnection<Postgres>, CliError> {
    let connecting = |source| fairgate::DatabaseError { doing: "connecting", source }.into();
    pool.acquire().await.map_err(connecting)
}

/// The database's clock, which alone decides when a job is due.
pub(crate) async fn now(connection: &mut PgConnection) -> Result<DateTime<Utc>, CliError> {
    sqlx::query_scalar(include_str!("../queries/database_now.sql"))
        .fetch_one(connection)
        .await
        .map_err(|source| fairgate::DatabaseError { doing: "reading the database's clock", source }.into())
}

fn options(args: &DatabaseArgs) -> Result<PgConnectOptions, CliError> {
    let url = url(args).ok_or_else(|| {
        CliError::usage("no database is named").hint(
            "give --database-url postgres://user@host/database, or set FAIRGATE_DATABASE_URL or DATABASE_URL",
        )
    })?;
    if let Some((scheme, _)) =
        url.split_once("://").filter(|(scheme, _)| !matches!(*scheme, "postgres" | "postgresql"))
    {
        return Err(CliError::usage(format!("the database URL begins with {scheme}://, which is not PostgreSQL"))
            .hint("fairgate lives in the PostgreSQL database of the queue: postgres://user:password@host:5432/database"));
    }
    let options = PgConnectOptions::from_str(&url).map_err(|error| {
        CliError::usage(format!("the database URL cannot be read: {error}"))
            .hint("it looks like postgres://user:password@host:5432/database")
    })?;
    Ok(options.application_name("fairgate").disable_statement_logging())
}

async fn patiently<T>(
    options: &PgConnectOptions,
    connecting: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, CliError> {
    let place = place(options);
    match tokio::time::timeout(PATIENCE, connecting).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(error)) => Err(CliError::unreachable(&place, &error)),
        Err(_) => {
            let cause = format!("no answer within {} s", PATIENCE.as_secs());
            Err(CliError::unreachable(&place, &sqlx::Error::Protocol(cause)))
        }
    }
}

/// Where the database is, without the password.
fn place(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or(options.get_username());
    match options.get_socket() {
        Some(socket) => format!("{}:{}/{database}", socket.display(), options.get_port()),
        None => format!("{}:{}/{database}", options.get_host(), options.get_port()),
    }
}
