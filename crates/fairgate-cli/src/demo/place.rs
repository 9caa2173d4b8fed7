//! Where the demo runs: in the database that is named, or in a private one on this machine.

use std::str::FromStr;

use fairgate_localpg::LocalPg;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};

use super::database_error;
use crate::args::DatabaseArgs;
use crate::error::CliError;
use crate::{database, output};

/// The private server's folder, under the one that the demo is started in.
const FOLDER: &str = ".fairgate/demo";
/// The private server's database, made anew by each demo.
const DATABASE: &str = "fairgate_demo";

/// A database to run in. The private server stops when this is dropped.
pub(super) struct Place {
    pub(super) database: DatabaseArgs,
    url: String,
    local: Option<LocalPg>,
}

impl Place {
    /// The database that the arguments or the environment name, else one on a private server, which is started.
    ///
    /// # Errors
    /// When the server cannot be started, or the database cannot be made.
    pub(super) async fn open(args: &DatabaseArgs) -> Result<Self, CliError> {
        if let Some(url) = database::url(args) {
            return Ok(Self { database: args.clone(), url, local: None });
        }
        output::say("starting a private PostgreSQL, because no database is named");
        let starting = || LocalPg::builder().dir(FOLDER).durable(true).start();
        let local = tokio::task::spawn_blocking(starting)
            .await
            .map_err(|error| CliError::failed(format!("starting a private PostgreSQL failed: {error}")))?
            .map_err(|error| {
                CliError::failed("the demo's private PostgreSQL cannot be started")
                    .cause(error.to_string())
                    .hint("or name a database of your own with --database-url")
            })?;
        make_database(&local.url("postgres")).await?;
        let url = local.url(DATABASE);
        Ok(Self { database: DatabaseArgs { database_url: Some(url.clone()) }, url, local: Some(local) })
    }

    /// Says where that is, and what the demo does and does not touch there.
    pub(super) fn introduce(&self) {
        match &self.local {
            Some(local) => output::say(&format!(
                "database: a private PostgreSQL in {}, stopped at the end; look into it meanwhile with\n  psql '{}'",
                local.dir().display(),
                self.url
            )),
            None => output::say(
                "database: the one that you named. Its own policies, jobs and queues are left alone: the demo has policies demo_*,\n  \
                 a queue of its own and its record in schema fairgate_demo, which stay there to look at",
            ),
        }
    }

    /// A pool of at most so many connections, none of them open yet.
    ///
    /// # Errors
    /// When the URL cannot be read.
    pub(super) fn pool(&self, connections: u32) -> Result<PgPool, CliError> {
        let options = PgConnectOptions::from_str(&self.url)
            .map_err(|error| CliError::usage(format!("the database URL cannot be read: {error}")))?;
        // Procrastinate's own functions name its tables without their schema.
        let options = options
            .application_name("fairgate demo")
            .options([("search_path", "public")])
            .disable_statement_logging();
        Ok(PgPoolOptions::new().max_connections(connections).connect_lazy_with(options))
    }

    /// Stops the private server, if there is one.
    pub(super) async fn close(self) {
        let Some(local) = self.local else { return };
        match tokio::task::spawn_blocking(|| local.stop()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => output::say(&format!("warning: {error}")),
            Err(error) => {
                output::say(&format!("warning: stopping the private PostgreSQL failed: {error}"));
            }
        }
    }
}

async fn make_database(url: &str) -> Result<(), CliError> {
    const DOING: &str = "making the demo's database";
    let options = PgConnectOptions::from_str(url).map_err(database_error(DOING))?;
    // Dropping and creating a database take their time.
    let mut conn = options.disable_statement_logging().connect().await.map_err(database_error(DOING))?;
    for sql in [
        include_str!("../../queries/demo/drop_database.sql"),
        include_str!("../../queries/demo/create_database.sql"),
    ] {
        sqlx::raw_sql(sql).execute(&mut conn).await.map_err(database_error(DOING))?;
    }
    conn.close().await.map_err(database_error(DOING))
}
