//! Unchanged workers for the tests with real queues: the argument names the queue.

mod apalis_worker;
mod graphile;

use serde::{Deserialize, Serialize};
use sqlx::PgPool;

/// A job fails in its first `fail` attempts; -1 kills the worker in the first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Work {
    n: i32,
    tenant: String,
    fail: i64,
}

impl Work {
    /// Notes that it ran.
    pub(crate) async fn run(self, pool: &PgPool) -> Result<(), String> {
        let sql = "INSERT INTO public.ran (n, tenant) VALUES ($1, $2) RETURNING id, (SELECT count(*) FROM public.ran WHERE n = $1)";
        let began: Result<(i64, i64), sqlx::Error> =
            sqlx::query_as(sql).bind(self.n).bind(&self.tenant).fetch_one(pool).await;
        let (id, before) = began.map_err(|error| error.to_string())?;
        if self.fail < 0 && before == 0 {
            std::process::abort();
        }
        let ended = sqlx::query("UPDATE public.ran SET ended = clock_timestamp() WHERE id = $1").bind(id);
        ended.execute(pool).await.map_err(|error| error.to_string())?;
        if before < self.fail { Err(format!("job {} fails on purpose", self.n)) } else { Ok(()) }
    }
}

#[tokio::main]
async fn main() {
    let url = std::env::var("DATABASE_URL").expect("DATABASE_URL names the database");
    let pool = PgPool::connect(&url).await.expect("the database answers");
    match std::env::args().nth(1).as_deref() {
        Some("apalis") => apalis_worker::run(pool).await,
        Some("graphile_worker") => graphile::run(pool).await,
        other => panic!("which queue? apalis or graphile_worker, not {other:?}"),
    }
}
