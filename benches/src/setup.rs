use fairgate::{Policy, Settings, Ticker};
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool};

use crate::lean::Lean;

/// A server and a database with everything installed.
pub(crate) struct Bench {
    pub(crate) pool: PgPool,
}

impl Bench {
    pub(crate) async fn start() -> Self {
        let url = std::env::var("BENCH_DATABASE_URL").expect("url");
        let pool = PgPoolOptions::new().max_connections(40).connect(&url).await.expect("a pool");
        fairgate::migrate(&mut pool.acquire().await.expect("a connection")).await.expect("migrated");
        let bench = Self { pool };
        bench.execute("DROP SCHEMA IF EXISTS bench CASCADE").await;
        bench.execute(include_str!("../queries/schema.sql")).await;
        bench
    }

    pub(crate) async fn execute(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&self.pool).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    }

    pub(crate) async fn ticker(&self, batch: u32, budget: u32) -> Ticker {
        let policy = Policy::builder("bench")
            .queue("lean")
            .partition_by("tenant")
            .throttle(|t| t.rate(1e6).per(std::time::Duration::from_secs(1)))
            .concurrency(|c| c.max(1e6))
            .build()
            .expect("a policy");
        let settings = Settings {
            partition_batch_size: batch,
            tick_admission_budget: (budget > 0).then_some(budget),
            ..Settings::default()
        };
        Ticker::builder(self.pool.clone())
            .settings(settings)
            .queue("lean", Lean::new())
            .expect("a name")
            .policy(policy)
            .register()
            .await
            .expect("a ticker")
    }
}
