//! What every command needs: settings, connections, the budget, the way to GitHub.

use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate::budget::Budget;
use fairgate::lock::Locks;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgConnection};

use crate::config::{Config, Mode};
use crate::error::{Doing, FeedError};
use crate::github::Door;
use crate::github::fixture::Fixture;
use crate::github::live::Live;
use crate::plan::{BUDGET, SEARCH_BUDGET};

/// Connections of the service's jobs, pages and ticker together.
const POOL: u32 = 12;
const PATIENCE: Duration = Duration::from_secs(10);

/// A program at work. Cheap to share by reference.
#[derive(Debug)]
pub struct App {
    /// Its settings.
    pub config: Config,
    /// Its connections.
    pub pool: PgPool,
    /// GitHub's core budget.
    pub budget: Budget,
    /// GitHub's search budget, where searches are wanted.
    pub search: Option<Budget>,
    /// The way to GitHub.
    pub door: Door,
    options: PgConnectOptions,
}

impl App {
    /// Prepares; connects later.
    ///
    /// # Errors
    /// When the database's URL or the scenario cannot be read.
    pub fn new(config: Config) -> Result<Self, FeedError> {
        let options = PgConnectOptions::from_str(&config.database_url)
            .map_err(|error| FeedError::usage(format!("DATABASE_URL cannot be read: {error}")))?
            .application_name("pushfeed")
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(POOL)
            .acquire_timeout(PATIENCE)
            .connect_lazy_with(options.clone());
        let door = match &config.mode {
            Mode::Live { instead } => {
                Door::Live(Live::new(config.token.clone(), *instead, config.open_within, config.read_within))
            }
            Mode::Fixture { scenario, folder } => {
                let fixture = Fixture::load(scenario, folder.as_deref());
                Door::Fixture(
                    fixture.map_err(|error| FeedError::usage(format!("GITHUB_FIXTURE_SCENARIO: {error}")))?,
                )
            }
        };
        let budget = Budget::new(BUDGET, config.plan.clone()).expect("the name is short");
        let searches = config.search_batch > 0;
        let search = searches
            .then(|| Budget::new(SEARCH_BUDGET, config.search_plan.clone()).expect("the name is short"));
        Ok(Self { config, pool, budget, search, door, options })
    }

    /// A connection of its own, outside the pool.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn connect(&self) -> Result<PgConnection, FeedError> {
        let connecting = PgConnection::connect_with(&self.options);
        let late = || sqlx::Error::Protocol(format!("no answer within {} s", PATIENCE.as_secs()));
        tokio::time::timeout(PATIENCE, connecting).await.unwrap_or_else(|_| Err(late())).doing("connecting")
    }

    /// Two connections for one worker: one for statements, one that holds its locks.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn worker(&self) -> Result<Worker<'_>, FeedError> {
        Ok(Worker { app: self, conn: self.connect().await?, locks: Locks::new(self.connect().await?) })
    }

    /// Whether GitHub is asked with a token.
    #[must_use]
    pub fn authenticated(&self) -> bool {
        self.config.token.is_some()
    }
}

/// Who polls or enriches. It is in no transaction while a request is on its way.
#[derive(Debug)]
pub struct Worker<'a> {
    /// The program.
    pub app: &'a App,
    /// For statements.
    pub conn: PgConnection,
    /// For locks.
    pub locks: Locks,
}

impl Worker<'_> {
    /// The database's clock.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn now(&mut self) -> Result<DateTime<Utc>, FeedError> {
        sqlx::query_scalar(include_str!("../queries/now.sql"))
            .fetch_one(&mut self.conn)
            .await
            .doing("reading the database's clock")
    }
}
