use chrono::{DateTime, Utc};
use fairgate::queue::GraphileWorker;
use fairgate::ticker::PassReport;
use fairgate::{NewJob, Policy, Settings, Staged, Ticker};
use fairgate_testkit::TestDb;
use serde_json::json;
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
        fairgate::stage_many(&mut *self.conn().await, policy, &jobs).await.expect("staged")
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

    pub(crate) async fn execute(&self, sql: &str) -> u64 {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(self.pool()).await;
        done.unwrap_or_else(|e| panic!("{sql}: {e}")).rows_affected()
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

pub(crate) async fn ticker(pool: &PgPool, policies: Vec<Policy>, settings: Settings) -> Ticker {
    let mut builder = Ticker::builder(pool.clone())
        .settings(settings)
        .queue("main", GraphileWorker::new("graphile_worker").expect("a name"))
        .expect("a name");
    for policy in policies {
        builder = builder.policy(policy);
    }
    builder.register().await.expect("registered")
}

/// A job of a tenant, for policies that partition by `tenant`.
pub(crate) fn job(tenant: &str) -> NewJob {
    NewJob::new("work").context(&json!({ "tenant": tenant })).expect("a context")
}

pub(crate) fn policy(name: &str) -> fairgate::PolicyBuilder {
    Policy::builder(name).queue("main").partition_by("tenant")
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
