use std::time::{Duration, Instant};

use sqlx::Connection;

use crate::setup::Bench;

/// Times of one round.
#[derive(Debug)]
#[allow(dead_code)]
pub(crate) struct Round {
    raw: Duration,
    fairgate: Duration,
    ratio: f64,
    passes: u64,
}

pub(crate) async fn measure(bench: &Bench, jobs: u32, tenants: u32, tickers: u32, batch: u32, budget: u32) -> Round {
    let mut crew = Vec::new();
    for _ in 0..tickers {
        crew.push(bench.ticker(batch, budget).await);
    }
    bench.execute(include_str!("../queries/empty.sql")).await;
    let fill = include_str!("../queries/fill.sql").replace("{jobs}", &jobs.to_string()).replace("{tenants}", &tenants.to_string());
    bench.execute(&fill).await;
    for table in ["fairgate.staged", "fairgate.delta", "bench.raw_staged"] {
        bench.execute(&format!("VACUUM ANALYZE {table}")).await;
    }
    bench.execute("CHECKPOINT").await;

    let began = Instant::now();
    let mut movers = tokio::task::JoinSet::new();
    for part in 0..tickers {
        let pool = bench.pool.clone();
        movers.spawn(async move {
            sqlx::query(include_str!("../queries/move_raw.sql")).bind(part as i32).bind(tickers as i32).execute(&pool).await.expect("moved");
        });
    }
    movers.join_all().await;
    let raw = began.elapsed();
    bench.execute("TRUNCATE bench.lean; CHECKPOINT").await;

    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for mut ticker in crew {
        let pool = bench.pool.clone();
        tasks.spawn(async move {
            let mut conn = pool.acquire().await.expect("a connection");
            let mut passes = 0;
            loop {
                let pass = ticker.pass(&mut conn, None, None).await.expect("a pass");
                passes += 1;
                if !pass.busy {
                    conn.ping().await.expect("alive");
                    return passes;
                }
            }
        });
    }
    let passes = tasks.join_all().await.into_iter().sum();
    let fairgate = began.elapsed();
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM fairgate.staged").fetch_one(&bench.pool).await.expect("a count");
    assert_eq!(left, 0, "all was admitted");
    Round { raw, fairgate, ratio: raw.as_secs_f64() / fairgate.as_secs_f64(), passes }
}
