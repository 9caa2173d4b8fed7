//! The server that holds the tests' databases.

use std::sync::OnceLock;

use fairgate_localpg::LocalPg;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};

/// The URL of the server to use, set for a whole run of tests.
const VARIABLE: &str = "FAIRGATE_TEST_DATABASE_URL";

static SERVER: OnceLock<Server> = OnceLock::new();

/// Where the databases are created.
#[derive(Debug)]
pub(super) struct Server {
    url: String,
    /// Set when the server is this process's own, and ends with it.
    own: Option<LocalPg>,
}

/// The process's server, started or looked up on the first call.
pub(super) async fn get() -> &'static Server {
    tokio::task::spawn_blocking(|| SERVER.get_or_init(Server::find))
        .await
        .expect("the search for a server panicked")
}

impl Server {
    fn find() -> Server {
        if let Some(url) = std::env::var(VARIABLE).ok().filter(|url| !url.is_empty()) {
            return Server { url, own: None };
        }
        match LocalPg::builder().ephemeral().durable(false).start() {
            Ok(own) => Server { url: own.url("postgres"), own: Some(own) },
            Err(error) => panic!("no database for the tests ({VARIABLE} is not set): {error}"),
        }
    }

    /// The URL of a database that is always there.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Whether the server outlives this process.
    pub(super) fn is_shared(&self) -> bool {
        self.own.is_none()
    }

    /// A connection to create and drop databases with.
    pub(super) async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url)
            .await
            .unwrap_or_else(|error| panic!("connecting to the tests' server {}: {error}", self.url))
    }

    /// Drops a database and whatever is connected to it, unless the server goes away with this process anyway.
    /// Blocks until it is done, because the process may end right after.
    pub(super) fn drop_database(&self, name: &str) {
        if !self.is_shared() {
            return;
        }
        let url = self.url.clone();
        let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        // A thread of its own, because a runtime cannot block on another within itself.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut connection = PgConnection::connect(&url).await?;
                sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
                connection.close().await
            })
        });
        // A database too many is no reason to fail a test, and panicking in a drop could hide one.
        match dropping.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => eprintln!("database {name} was not dropped: {error}"),
            Err(_) => eprintln!("database {name} was not dropped: its thread panicked"),
        }
    }
}
