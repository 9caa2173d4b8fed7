use std::time::Duration;

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, PgPool, Postgres};

use super::TestJob;
use crate::error::{DatabaseError, Doing};
use crate::queue::{Ident, IdentError};
use crate::sweep::interval;

/// A queue that is one table and has no workers: the test is the worker. Give a clone of it to [`TickerBuilder::queue`](crate::ticker::TickerBuilder::queue).
///
/// Its triggers show starts, successes, failures, deaths and removals in the transaction of the call, so every policy works on it. A sweep that should know it is
/// [`Ticker::sweep_once`](crate::Ticker::sweep_once). The table (`jobs`, unlogged) may be read and written by SQL too.
#[derive(Debug, Clone)]
pub struct TableQueue {
    pub(super) schema: Ident,
    pub(super) silent: bool,
    pool: PgPool,
}

/// Why the queue did not do it.
#[derive(Debug, thiserror::Error)]
pub enum TableQueueError {
    /// The schema's name cannot be one.
    #[error("schema: {0}")]
    Schema(#[from] IdentError),
    /// The job has no row: completed, removed, gone back into staging, or never there.
    #[error("job {id} is not in the queue; list those that are with jobs()")]
    NoSuchJob {
        /// The id that was given.
        id: i64,
    },
    /// The job is about something else.
    #[error("job {id} is {state}; {wanted} alone can be {done}")]
    WrongState {
        /// The job.
        id: i64,
        /// What it is: waiting, running or dead.
        state: String,
        /// What it should be.
        wanted: &'static str,
        /// What was to be done.
        done: &'static str,
    },
    /// The database did not answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl TableQueue {
    /// Makes the table `jobs` in `schema`, and the schema, unless they are there.
    ///
    /// # Errors
    /// When `schema` cannot be the name of a schema, or the database refuses.
    pub async fn create(pool: &PgPool, schema: &str) -> Result<Self, TableQueueError> {
        let queue = Self { schema: Ident::new(schema)?, silent: false, pool: pool.clone() };
        let sql = queue.fill(include_str!("table_queue/create.sql"));
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await.doing("creating the queue of a test")?;
        Ok(queue)
    }

    /// The same without triggers, for workers that report themselves, or hold a [`Guard`](crate::guard::Guard).
    #[must_use]
    pub fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    /// The jobs that wait, run or are dead, in the order in which they came.
    ///
    /// # Errors
    /// When the database does not answer; so do all the others.
    pub async fn jobs(&self) -> Result<Vec<TestJob>, TableQueueError> {
        let sql = AssertSqlSafe(self.fill(include_str!("table_queue/list.sql")));
        Ok(sqlx::query_as(sql).fetch_all(&self.pool).await.doing("listing the queue of a test")?)
    }

    /// A worker takes the job, whatever its `run_at`.
    ///
    /// # Errors
    /// When the job does not wait.
    pub async fn start(&self, id: i64) -> Result<(), TableQueueError> {
        let done = self.query(include_str!("table_queue/start.sql"), id);
        self.change(id, done, "a waiting job", "started").await
    }

    /// The same, and fairgate sees that the job waited so long for its worker: what an adaptive gate goes by.
    ///
    /// # Errors
    /// When the job does not wait.
    pub async fn start_with_lag(&self, id: i64, lag: Duration) -> Result<(), TableQueueError> {
        self.start(id).await?;
        let lag = self.query(include_str!("table_queue/set_lag.sql"), id).bind(lag.as_secs_f64() * 1000.0);
        lag.execute(&self.pool).await.doing("setting a lag")?;
        Ok(())
    }

    /// The job succeeds, and leaves the queue.
    ///
    /// # Errors
    /// When the job does not run.
    pub async fn complete(&self, id: i64) -> Result<(), TableQueueError> {
        let done = self.query(include_str!("table_queue/complete.sql"), id);
        self.change(id, done, "a running job", "completed").await
    }

    /// The same, and fairgate sees that its worker took so long: what fairness by worker time goes by.
    ///
    /// # Errors
    /// When the job does not run.
    pub async fn complete_after(&self, id: i64, took: Duration) -> Result<(), TableQueueError> {
        let time = self.query(include_str!("table_queue/set_worker_time.sql"), id).bind(interval(took));
        time.execute(&self.pool).await.doing("setting a worker's time")?;
        self.complete(id).await
    }

    /// The attempt fails. The queue means to try again after `back_off`: under `retry = restage` the job goes back into staging, else it waits here.
    /// An attempt that was the last leaves it dead.
    ///
    /// # Errors
    /// When the job does not run.
    pub async fn fail(&self, id: i64, error: &str, back_off: Duration) -> Result<(), TableQueueError> {
        let done = self.query(include_str!("table_queue/fail.sql"), id).bind(error).bind(interval(back_off));
        self.change(id, done, "a running job", "failed").await
    }

    /// The attempt fails for good, whatever attempts are left.
    ///
    /// # Errors
    /// When the job does not run.
    pub async fn kill(&self, id: i64, error: &str) -> Result<(), TableQueueError> {
        let done = self.query(include_str!("table_queue/kill.sql"), id).bind(error);
        self.change(id, done, "a running job", "killed").await
    }

    /// Somebody takes the job out before it begins.
    ///
    /// # Errors
    /// When the job does not wait.
    pub async fn remove(&self, id: i64) -> Result<(), TableQueueError> {
        let done = self.query(include_str!("table_queue/remove.sql"), id);
        self.change(id, done, "a waiting job", "removed").await
    }

    /// Somebody gives a dead job new attempts, which is a new admission.
    ///
    /// # Errors
    /// When the job is not dead.
    pub async fn revive(&self, id: i64) -> Result<(), TableQueueError> {
        let done = self.query(include_str!("table_queue/revive.sql"), id);
        self.change(id, done, "a dead job", "revived").await
    }

    pub(super) fn fill(&self, template: &str) -> String {
        template.replace("{schema}", &self.schema.to_string())
    }

    fn query(&self, template: &str, id: i64) -> Query<'static, Postgres, PgArguments> {
        sqlx::query(AssertSqlSafe(self.fill(template))).bind(id)
    }

    async fn change(
        &self,
        id: i64,
        statement: Query<'_, Postgres, PgArguments>,
        wanted: &'static str,
        done: &'static str,
    ) -> Result<(), TableQueueError> {
        const DOING: &str = "changing the queue of a test";
        if statement.execute(&self.pool).await.doing(DOING)?.rows_affected() > 0 {
            return Ok(());
        }
        let sql = AssertSqlSafe(self.fill(include_str!("table_queue/state.sql")));
        let state: Option<String> =
            sqlx::query_scalar(sql).bind(id).fetch_optional(&self.pool).await.doing(DOING)?;
        Err(match state {
            Some(state) => TableQueueError::WrongState { id, state, wanted, done },
            None => TableQueueError::NoSuchJob { id },
        })
    }
}
