use chrono::{DateTime, TimeDelta, Utc};
use fairgate::Retry;
use fairgate::queue::GraphileWorker;
use fairgate::sweep::{Sweeper, Swept};
use fairgate::ticker::{PassReport, TickerBuilder};
use fairgate::{NewJob, Policy, PolicyName, Settings, Staged, Ticker};
use fairgate_testkit::TestDb;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, PgPool};

/// A database with registered policies and one ticker that is driven by hand.
pub(crate) struct World {
    pub(crate) db: TestDb,
    pub(crate) ticker: Ticker,
}

impl World {
    pub(crate) async fn new(policies: Vec<Policy>) -> Self {
        Self::with(policies, Settings::default()).await
    }

    pub(crate) async fn with(policies: Vec<Policy>, settings: Settings) -> Self {
        let db = TestDb::new().await;
        let ticker = ticker(db.pool(), policies, settings).await;
        Self { db, ticker }
    }

    pub(crate) fn pool(&self) -> &PgPool {
        self.db.pool()
    }

    pub(crate) async fn conn(&self) -> sqlx::pool::PoolConnection<sqlx::Postgres> {
        self.pool().acquire().await.expect("a connection")
    }

    /// Stages `count` jobs of one tenant, in one transaction.
    pub(crate) async fn stage(&self, policy: &str, tenant: &str, count: usize) -> Vec<Staged> {
        let jobs: Vec<NewJob> =
            (0..count).map(|n| job(tenant).payload(&json!({ "n": n })).expect("payload")).collect();
        self.stage_jobs(policy, &jobs).await
    }

    pub(crate) async fn stage_jobs(&self, policy: &str, jobs: &[NewJob]) -> Vec<Staged> {
        fairgate::stage_many(&mut *self.conn().await, policy, jobs).await.expect("staged")
    }

    /// Stages one job of a tenant with a context of its own; `tenant` is added to it.
    pub(crate) async fn stage_with(&self, policy: &str, tenant: &str, context: Value) -> Staged {
        let one = with_context(tenant, context);
        fairgate::stage(&mut *self.conn().await, policy, &one).await.expect("staged")
    }

    /// One pass of the ticker by the database's clock.
    pub(crate) async fn pass(&mut self) -> PassReport {
        self.pass_at(None).await
    }

    /// One pass at a time of the test's choice.
    pub(crate) async fn pass_at(&mut self, now: impl Into<Option<DateTime<Utc>>>) -> PassReport {
        let mut conn = self.db.pool().acquire().await.expect("a connection");
        self.ticker.pass(&mut conn, now.into(), None).await.expect("a pass")
    }

    /// Jobs that one pass at that time admits.
    pub(crate) async fn admitted_at(&mut self, now: DateTime<Utc>) -> u64 {
        self.pass_at(now).await.ticks.jobs_admitted
    }

    /// Passes until one admits nothing.
    pub(crate) async fn settle(&mut self) -> u64 {
        let mut admitted = 0;
        loop {
            let pass = self.pass().await;
            admitted += pass.ticks.jobs_admitted;
            if !pass.busy {
                return admitted;
            }
        }
    }

    /// Folds the reports in without a tick.
    pub(crate) async fn absorb(&self) {
        fairgate::absorb::absorb(&mut *self.conn().await, None).await.expect("absorbed");
    }

    /// Every sweep once, by a sweeper that remembers nothing, at a time of the test's choice.
    pub(crate) async fn sweep_at(&self, settings: &Settings, now: impl Into<Option<DateTime<Utc>>>) -> Swept {
        let mut conn = self.conn().await;
        Sweeper::default().run(&mut conn, settings, now.into()).await.expect("a sweep")
    }

    /// The database's time, and so many milliseconds on.
    pub(crate) async fn after_ms(&self, ms: i64) -> DateTime<Utc> {
        let now: DateTime<Utc> =
            sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(self.pool()).await.expect("the time");
        now + TimeDelta::milliseconds(ms)
    }

    /// One number from the database.
    pub(crate) async fn number(&self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
            .fetch_one(self.pool())
            .await
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// One column from the database, as text.
    pub(crate) async fn column(&self, sql: &str) -> Vec<String> {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
            .fetch_all(self.pool())
            .await
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// One text from the database.
    pub(crate) async fn text(&self, sql: &str) -> String {
        self.column(sql).await.pop().unwrap_or_else(|| panic!("{sql}: no row"))
    }

    pub(crate) async fn execute(&self, sql: &str) -> u64 {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(self.pool()).await;
        done.unwrap_or_else(|e| panic!("{sql}: {e}")).rows_affected()
    }

    /// Every row that an admission may touch, as text.
    pub(crate) async fn everything(&self) -> String {
        self.text(include_str!("everything.sql")).await
    }

    pub(crate) async fn in_flight(&self) -> i64 {
        self.number("SELECT count(*) FROM fairgate.in_flight").await
    }

    pub(crate) async fn queue_length(&self) -> i64 {
        self.number("SELECT count(*) FROM graphile_worker._private_jobs").await
    }

    /// Every counter agrees with its rows.
    pub(crate) async fn audit(&self) {
        let wrong = fairgate::doctor::audit(&mut *self.conn().await).await.expect("an audit");
        assert_eq!(wrong, [], "counters disagree with their rows");
    }

    /// The queue completes some of its jobs, as a worker does: it deletes them.
    pub(crate) async fn complete(&self, tenant: &str, count: i64) -> u64 {
        let sql = "DELETE FROM graphile_worker._private_jobs WHERE id IN (SELECT id FROM graphile_worker._private_jobs
                    WHERE flags #>> '{fairgate,p}' = $1 ORDER BY id LIMIT $2)";
        sqlx::query(sql)
            .bind(tenant)
            .bind(count)
            .execute(self.pool())
            .await
            .expect("completed")
            .rows_affected()
    }
}

/// A builder of tickers that know queue `main`.
pub(crate) fn builder(pool: &PgPool) -> TickerBuilder {
    let queue = GraphileWorker::new("graphile_worker").expect("a name");
    Ticker::builder(pool.clone()).queue("main", queue).expect("a name").max_waiting(0)
}

pub(crate) async fn ticker(pool: &PgPool, policies: Vec<Policy>, settings: Settings) -> Ticker {
    let builder = policies.into_iter().fold(builder(pool).settings(settings), TickerBuilder::policy);
    builder.register().await.expect("registered")
}

/// A job of a tenant, for policies that partition by `tenant`.
pub(crate) fn job(tenant: &str) -> NewJob {
    with_context(tenant, json!({}))
}

fn with_context(tenant: &str, mut context: Value) -> NewJob {
    context["tenant"] = tenant.into();
    NewJob::new("work").context(&context).expect("a context")
}

pub(crate) fn policy(name: &str) -> fairgate::PolicyBuilder {
    Policy::builder(name).queue("main").partition_by("tenant")
}

/// A policy without gates.
pub(crate) fn open(name: &str) -> Policy {
    policy(name).build().expect("a policy")
}

/// A policy that lets `max` jobs of a partition be in flight.
pub(crate) fn capped(name: &str, max: f64) -> Policy {
    policy(name).concurrency(|c| c.max(max)).build().expect("a policy")
}

/// The same, whose retries are the queue's own.
pub(crate) fn bypassing(name: &str, max: f64) -> Policy {
    policy(name).retry(Retry::Bypass).concurrency(|c| c.max(max)).build().expect("a policy")
}

pub(crate) fn name(policy: &str) -> PolicyName {
    policy.parse().expect("a name")
}

/// Jobs of a tenant in the queue, by our mark.
pub(crate) async fn queued(conn: &mut PgConnection, tenant: &str) -> i64 {
    sqlx::query_scalar(
        "SELECT count(*) FROM graphile_worker._private_jobs WHERE flags #>> '{fairgate,p}' = $1",
    )
    .bind(tenant)
    .fetch_one(conn)
    .await
    .expect("a count")
}

/// Another installation of the queue, and a ticker that serves policy `other` into it as well.
pub(crate) async fn second_queue(world: &World) -> Ticker {
    graphile_worker::WorkerOptions::default()
        .pg_pool(world.pool().clone())
        .schema("second_worker")
        .listen_os_shutdown_signals(false)
        .init()
        .await
        .expect("the queue's tables");
    let queue = GraphileWorker::new("second_worker").expect("a name");
    let other = Policy::builder("other").queue("second").partition_by("tenant").build().expect("a policy");
    let builder = builder(world.pool()).queue("second", queue).expect("a name").max_waiting(0).policy(other);
    builder.register().await.expect("registered")
}
