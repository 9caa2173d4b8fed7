use std::sync::atomic::{AtomicU32, Ordering};

use fairgate::queue::{GraphileWorker, Queue};
use fairgate::{Policy, PolicyBuilder, Settings, Ticker};
use fairgate_localpg::LocalPg;
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};

/// A durable private server and a database with everything installed.
pub(crate) struct Bench {
    server: Option<LocalPg>,
    pub(crate) url: String,
    pub(crate) pool: PgPool,
    revision: AtomicU32,
}

impl Bench {
    /// `BENCH_DATABASE_URL` names a superuser's database on a server of your own to use instead.
    pub(crate) async fn start() -> Self {
        let (server, admin) = match std::env::var("BENCH_DATABASE_URL") {
            Ok(url) => (None, url),
            Err(_) => {
                let start = || {
                    LocalPg::builder()
                        .durable(true)
                        .max_connections(120)
                        .setting("shared_buffers", "1GB")
                        .setting("max_wal_size", "8GB")
                        .start()
                };
                let server = tokio::task::spawn_blocking(start)
                    .await
                    .expect("joined")
                    .unwrap_or_else(|e| panic!("{e}"));
                let url = server.url("postgres");
                (Some(server), url)
            }
        };
        let mut conn =
            PgConnection::connect(&admin).await.unwrap_or_else(|e| panic!("connecting to {admin}: {e}"));
        for sql in ["DROP DATABASE IF EXISTS fairgate_bench WITH (FORCE)", "CREATE DATABASE fairgate_bench"] {
            sqlx::raw_sql(sql).execute(&mut conn).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
        let url = match &server {
            Some(server) => server.url("fairgate_bench"),
            None => with_database(&admin),
        };
        let pool = PgPoolOptions::new().max_connections(40).connect(&url).await.expect("a pool");
        graphile_worker::WorkerOptions::default()
            .pg_pool(pool.clone())
            .schema("graphile_worker")
            .listen_os_shutdown_signals(false)
            .init()
            .await
            .expect("Graphile Worker's tables");
        fairgate::migrate(&mut pool.acquire().await.expect("a connection")).await.expect("migrated");
        let bench = Self { server, url, pool, revision: AtomicU32::new(0) };
        bench.execute(include_str!("../queries/schema.sql")).await;
        bench
    }

    pub(crate) async fn stop(self) {
        self.pool.close().await;
        if let Some(server) = self.server {
            tokio::task::spawn_blocking(move || server.stop()).await.expect("joined").expect("stopped");
        }
    }

    pub(crate) async fn execute(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&self.pool)
            .await
            .unwrap_or_else(|e| panic!("{sql}: {e}"));
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
            .fetch_one(&self.pool)
            .await
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// Empties everything but what is registered.
    pub(crate) async fn empty(&self) {
        self.execute(include_str!("../queries/empty.sql")).await;
    }

    /// Jobs of policy `bench`, as bulk staging leaves them, absorbed, with fresh statistics.
    pub(crate) async fn fill(&self, jobs: u32, tenants: u32) {
        let fill = include_str!("../queries/fill.sql")
            .replace("{jobs}", &jobs.to_string())
            .replace("{tenants}", &tenants.to_string());
        self.execute(&fill).await;
        let mut conn = self.pool.acquire().await.expect("a connection");
        while self.number("SELECT count(*) FROM fairgate.delta").await > 0 {
            fairgate::absorb::absorb(&mut conn, None).await.expect("absorbed");
        }
        for table in [
            "fairgate.staged",
            "fairgate.delta",
            "fairgate.partition_state",
            "fairgate.partition",
            "bench.raw_staged",
        ] {
            self.execute(&format!("VACUUM ANALYZE {table}")).await;
        }
        self.execute("CHECKPOINT").await;
    }

    /// A ticker for the one policy, registered anew.
    pub(crate) async fn ticker(
        &self,
        policy: PolicyBuilder,
        settings: Settings,
        queue: impl Queue + 'static,
    ) -> Ticker {
        let policy = policy.queue("main").partition_by("tenant").build().expect("a policy");
        let builder = Ticker::builder(self.pool.clone())
            .settings(settings)
            .queue("main", queue)
            .expect("a name")
            .max_waiting(0)
            .policy(policy);
        // Every registration is newer than the last, also one that goes back to what was.
        builder
            .revision(self.revision.fetch_add(1, Ordering::Relaxed) + 1)
            .register()
            .await
            .expect("a ticker")
    }
}

/// Gates that are asked and never bind.
pub(crate) fn wide_open() -> PolicyBuilder {
    let second = std::time::Duration::from_secs(1);
    Policy::builder("bench").throttle(|t| t.rate(1e6).per(second)).concurrency(|c| c.max(1e6))
}

/// 500 partitions and 5,000 jobs a tick.
pub(crate) fn large_ticks() -> Settings {
    Settings { partition_batch_size: 500, tick_admission_budget: Some(5_000), ..Settings::default() }
}

pub(crate) fn graphile() -> GraphileWorker {
    GraphileWorker::new("graphile_worker").expect("a name")
}

fn with_database(url: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(b, q)| (b, Some(q)));
    let base = base.rsplit_once('/').map_or(base, |(b, _)| b);
    query.map_or_else(|| format!("{base}/fairgate_bench"), |q| format!("{base}/fairgate_bench?{q}"))
}
