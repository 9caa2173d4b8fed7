//! Workers of queues that have none in this process: the queue's own published SQL, played by a few loops. They perform a job by the same request as
//! Graphile's workers do.

use std::time::Duration;

use fairgate::queue::{Queue, adapter};
use sqlx::{PgConnection, PgPool};
use tokio_util::sync::CancellationToken;

use super::crew::Hand;
use super::database_error;
use super::workers::Postman;
use crate::error::CliError;

/// Loops that take and perform jobs.
pub(super) const LOOPS: usize = 20;
/// How long a loop that found nothing waits before it looks again.
const REST: Duration = Duration::from_millis(50);
/// What the demo writes on a table that it has made.
const MARK: &str = "made by fairgate demo";

/// A queue that is played.
#[derive(Debug, Clone, Copy)]
pub(super) struct Played {
    kind: &'static str,
    /// Its main table.
    table: &'static str,
    install: &'static str,
    begin: &'static str,
    next: &'static str,
    done: &'static str,
    empty: &'static str,
}

macro_rules! played {
    ($kind:literal, $table:literal, $fixture:literal) => {
        Played {
            kind: $kind,
            table: $table,
            install: include_str!(concat!("../../fixtures/queues/", $fixture, "/install.sql")),
            begin: include_str!(concat!("../../queries/demo/play/", $kind, "/begin.sql")),
            next: include_str!(concat!("../../queries/demo/play/", $kind, "/next.sql")),
            done: include_str!(concat!("../../queries/demo/play/", $kind, "/done.sql")),
            empty: include_str!(concat!("../../queries/demo/play/", $kind, "/empty.sql")),
        }
    };
}

const ALL: [Played; 6] = [
    played!("apalis", "apalis.jobs", "apalis"),
    played!("pgmq", "pgmq.meta", "pgmq"),
    played!("pg_boss", "pgboss.job", "pg_boss"),
    played!("procrastinate", "public.procrastinate_jobs", "procrastinate"),
    played!("underway", "underway.task", "underway"),
    // River's table, by the configuration that the documentation gives for it.
    played!("table", "public.river_job", "river"),
];

impl Played {
    /// The queue of that type, unless its workers are real.
    pub(super) fn of(kind: &str) -> Option<Self> {
        ALL.into_iter().find(|played| played.kind == kind)
    }

    /// Its adapter.
    ///
    /// # Errors
    /// Never: what it is built from are constants.
    pub(super) fn adapter(&self) -> Result<Box<dyn Queue>, CliError> {
        const RIVER: &str = include_str!("../../fixtures/queues/river/river.toml");
        let settings = match self.kind {
            "table" => fairgate::config::Config::parse(RIVER, "river.toml")?.queues.remove(0).settings,
            _ => serde_json::json!({}),
        };
        adapter(self.kind, None, &settings).map_err(|error| CliError::failed(error.to_string()))
    }

    /// Makes the queue's tables. In a database that has them already others' jobs may be in them, and the demo would perform those.
    ///
    /// # Errors
    /// When somebody else made them, or the database refuses.
    pub(super) async fn install(&self, conn: &mut PgConnection) -> Result<(), CliError> {
        const DOING: &str = "making the tables of the demo's queue";
        // Procrastinate's own functions name its tables without their schema.
        sqlx::raw_sql("SET search_path = public").execute(&mut *conn).await.map_err(database_error(DOING))?;
        let found: (bool, Option<String>) = sqlx::query_as(include_str!("../../queries/demo/find_table.sql"))
            .bind(self.table)
            .fetch_one(&mut *conn)
            .await
            .map_err(database_error(DOING))?;
        match found {
            (true, Some(mark)) if mark == MARK => {}
            (true, _) => {
                return Err(CliError::failed(format!("table {} is in this database already", self.table))
                    .hint(
                        "the demo would perform its jobs: name another database with --database-url, or none",
                    ));
            }
            (false, _) => {
                let install = format!("{}\n;COMMENT ON TABLE {} IS '{MARK}'", self.install, self.table);
                let install = sqlx::raw_sql(sqlx::AssertSqlSafe(install)).execute(&mut *conn).await;
                install.map_err(database_error(DOING))?;
            }
        }
        sqlx::raw_sql(self.begin).execute(&mut *conn).await.map_err(database_error(DOING))?;
        Ok(())
    }

    /// Takes away what an earlier demo left.
    ///
    /// # Errors
    /// When the database refuses.
    pub(super) async fn empty(&self, conn: &mut PgConnection) -> Result<(), CliError> {
        let emptied = sqlx::raw_sql(self.empty).execute(conn).await;
        emptied.map_err(database_error("emptying the demo's queue")).map(drop)
    }

    /// Loops that are ready to run.
    pub(super) fn hire(self, pool: &PgPool, url: &str, stop: &CancellationToken) -> Vec<Hand> {
        let postman = Postman::new(url);
        let one = |_| -> Hand {
            let (pool, postman, stop) = (pool.clone(), postman.clone(), stop.clone());
            Box::pin(async move { self.work(&pool, &postman, &stop).await })
        };
        (0..LOOPS).map(one).collect()
    }

    async fn work(self, pool: &PgPool, postman: &Postman, stop: &CancellationToken) -> Result<(), CliError> {
        while !stop.is_cancelled() {
            let next = sqlx::query_as(self.next).fetch_optional(pool).await;
            let next: Option<(String, String, Option<String>, Option<String>)> =
                next.map_err(database_error("taking a job from the demo's queue"))?;
            let Some((id, event, job, policy)) = next else {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(REST) => {}
                }
                continue;
            };
            let (job, policy) = match (job, policy) {
                (Some(job), Some(policy)) => (job, policy),
                _ => self.ticket(pool, &id).await?,
            };
            postman.post(&job, &policy, event).await.map_err(CliError::failed)?;
            let done = sqlx::query(self.done).bind(id).execute(pool).await;
            done.map_err(database_error("ending a job of the demo's queue"))?;
        }
        Ok(())
    }

    /// Which job of ours it is, and of which policy.
    async fn ticket(&self, pool: &PgPool, id: &str) -> Result<(String, String), CliError> {
        let ticket =
            sqlx::query_as(include_str!("../../queries/demo/play/ticket.sql")).bind(self.kind).bind(id);
        ticket.fetch_one(pool).await.map_err(database_error("finding out whose job it is"))
    }
}
