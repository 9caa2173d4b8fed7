use std::sync::Arc;

use fairgate::queue::{Event, Queue};
use fairgate::registry::{self, Options, QueueSpec, QueueState, Source};
use fairgate::{NewJob, Policy, PolicyBuilder, Retry, Settings, Staged, Ticker};
use serde_json::{Value, json};
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgConnection, Row};

use super::Protocol;
use crate::TestDb;

/// A database with the queue's own tables, a registered policy `p` and a ticker that is driven by hand.
pub struct World {
    /// The database.
    pub db: TestDb,
    /// The queue's side.
    pub protocol: Protocol,
    queue: Arc<dyn Queue>,
    ticker: Ticker,
}

/// A job as the queue's worker got it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fetched {
    /// The queue's own id.
    pub(super) id: String,
    /// What the task is given.
    pub(super) payload: Value,
}

/// Policy `p`, which lets two jobs of a tenant be in flight.
pub(super) fn policy() -> PolicyBuilder {
    Policy::builder("p").queue("main").partition_by("tenant").concurrency(|c| c.max(2.0))
}

/// A job of tenant `t`.
pub(super) fn job(n: i64) -> NewJob {
    NewJob::new("work")
        .payload(&json!({ "n": n }))
        .and_then(|job| job.context(&json!({ "tenant": "t" })))
        .expect("plain values")
}

impl World {
    /// With a policy that is open to everything the queue shows.
    pub async fn new(protocol: Protocol) -> Self {
        Self::with(protocol, policy()).await
    }

    pub(super) async fn bypassing(protocol: Protocol) -> Self {
        Self::with(protocol, policy().retry(Retry::Bypass)).await
    }

    pub(super) async fn with(protocol: Protocol, policy: PolicyBuilder) -> Self {
        let db = TestDb::new().await;
        let queue: Arc<dyn Queue> = Arc::from((protocol.queue)());
        let ticker = Ticker::builder(db.pool().clone()).build().expect("a ticker");
        let world = Self { db, protocol, queue, ticker };
        world.execute(world.protocol.install).await;
        let state = world.apply(&[policy.build().expect("a policy")]).await.expect("registered");
        assert_eq!(state, QueueState::Ready);
        world
    }

    /// Registers the queue and these policies, as `fairgate apply` does.
    pub(super) async fn apply(&self, policies: &[Policy]) -> Result<QueueState, registry::ApplyError> {
        let name = "main".parse().expect("a name");
        let spec = QueueSpec { name, queue: self.queue.clone(), max_waiting: Some(0) };
        let options = Options { source: Source::Code, revision: None, hooks: true, go_back: true };
        let applied = registry::apply(&mut self.conn().await, &[spec], policies, options).await?;
        Ok(applied.queues.into_iter().next().expect("one queue").1)
    }

    /// Applies another description of the queue; the ticker runs on.
    pub(super) async fn reconfigure(&mut self, queue: Arc<dyn Queue>) {
        self.queue = queue;
        let applied = self.apply(&[policy().build().expect("a policy")]).await.expect("applied");
        assert_eq!(applied, QueueState::Ready);
    }

    pub(super) fn queue(&self) -> &dyn Queue {
        self.queue.as_ref()
    }

    pub(super) fn shows(&self, event: Event) -> bool {
        self.queue.shows().contains(&event)
    }

    /// As a program connects whose role has no schema of its own name: the queue's tables go to `public`.
    pub(super) async fn conn(&self) -> PgConnection {
        let mut conn = self.db.connect().await;
        run(&mut conn, "SET search_path = public").await.expect("set");
        conn
    }

    pub(super) async fn execute(&self, sql: &str) {
        run(&mut self.conn().await, sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    }

    pub(super) async fn number(&self, sql: &str) -> i64 {
        let number =
            sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut self.conn().await).await;
        number.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    pub(super) async fn texts(&self, sql: &str) -> Vec<String> {
        let texts = sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_all(&mut self.conn().await).await;
        texts.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    pub(super) async fn stage(&self, jobs: &[NewJob]) -> Vec<Staged> {
        fairgate::stage_many(&mut self.conn().await, "p", jobs).await.expect("staged")
    }

    /// Passes until one admits nothing; says how many were admitted.
    pub(super) async fn admit(&mut self) -> u64 {
        let mut conn = self.conn().await;
        let mut admitted = 0;
        loop {
            let pass = self.ticker.pass(&mut conn, None, None).await.expect("a pass");
            admitted += pass.ticks.jobs_admitted;
            if !pass.busy {
                return admitted;
            }
        }
    }

    /// One pass, which may fail.
    pub(super) async fn pass(&mut self) -> Result<u64, fairgate::DatabaseError> {
        let mut conn = self.conn().await;
        Ok(self.ticker.pass(&mut conn, None, None).await?.ticks.jobs_admitted)
    }

    /// One pass, as if so many hours had passed.
    pub(super) async fn pass_after(&mut self, hours: i64) {
        let later = self.after(hours).await;
        self.ticker.pass(&mut self.db.connect().await, Some(later), None).await.expect("a pass");
    }

    async fn after(&self, hours: i64) -> chrono::DateTime<chrono::Utc> {
        let now = self.number("SELECT date_part('epoch', clock_timestamp())::bigint").await;
        chrono::DateTime::from_timestamp(now + hours * 3_600, 0).expect("a time")
    }

    /// Stages and admits so many jobs.
    pub(super) async fn admitted(&mut self, count: i64) -> Vec<Staged> {
        let jobs: Vec<NewJob> = (1..=count).map(job).collect();
        let staged = self.stage(&jobs).await;
        assert_eq!(self.admit().await, count.unsigned_abs());
        staged
    }

    /// Every sweep, as if two hours had passed.
    pub(super) async fn sweep(&mut self) {
        let later = self.after(2).await;
        let mut sweeper = fairgate::sweep::Sweeper::new(vec![("main".to_owned(), self.queue.clone())]);
        sweeper.run(&mut self.conn().await, &Settings::default(), Some(later)).await.expect("a sweep");
    }

    /// What the queue's worker gets next.
    pub(super) async fn fetch(&self) -> Option<Fetched> {
        self.fetch_on(&mut self.conn().await).await
    }

    pub(super) async fn fetch_on(&self, conn: &mut PgConnection) -> Option<Fetched> {
        let rows = run(conn, self.protocol.fetch).await.unwrap_or_else(|e| panic!("fetching: {e}"));
        let row = rows.iter().find(|row| row.len() > 1)?;
        let payload = row.get::<String, _>(1);
        Some(Fetched { id: row.get(0), payload: serde_json::from_str(&payload).expect("JSON") })
    }

    /// The same, where there must be one.
    pub(super) async fn fetched(&self) -> Fetched {
        self.fetch().await.expect("a job for the worker")
    }

    /// One of the queue's statements about a job.
    pub(super) async fn does(&self, sql: &str, job: &Fetched) {
        let text = filled(sql, &job.id);
        self.execute(&text).await;
    }

    /// Ids of the rows that wait or run, in the queue's order.
    pub(super) async fn queued(&self) -> Vec<String> {
        self.texts(self.protocol.waiting).await
    }

    pub(super) async fn in_flight(&self) -> i64 {
        self.number("SELECT count(*) FROM fairgate.in_flight").await
    }

    pub(super) async fn started(&self) -> i64 {
        self.number("SELECT count(*) FROM fairgate.in_flight WHERE started_at IS NOT NULL").await
    }

    pub(super) async fn staged(&self) -> i64 {
        self.number("SELECT count(*) FROM fairgate.staged").await
    }

    /// Every counter agrees with its rows.
    pub(super) async fn audit(&self) {
        let wrong = fairgate::doctor::audit(&mut self.conn().await).await.expect("an audit");
        assert_eq!(wrong, [], "counters disagree with their rows");
    }
}

/// One of the protocol's statements with its places filled.
pub(super) fn filled(sql: &str, id: &str) -> String {
    sql.replace("{id}", id).replace("{error}", "failed on purpose")
}

pub(super) async fn run(conn: &mut PgConnection, sql: &str) -> Result<Vec<PgRow>, sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).fetch_all(conn).await
}
