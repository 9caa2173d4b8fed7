//! Gates that partitions share, besides a throttle and a cap of each partition, and the same without them: into a lean table, in one run.

use std::time::{Duration, Instant};

use fairgate::{PolicyBuilder, Ticker};
use tokio::task::JoinSet;

use crate::lean::Lean;
use crate::setup::{Bench, large_ticks, wide_open};
use crate::table::{Row, Table, median};

const JOBS: u32 = 50_000;
const TENANTS: u32 = 1_000;

/// What the gates that never bind count together.
const SHAPES: [(&str, &[&str]); 3] = [
    ("a cap per account, 50 accounts", &["account"]),
    ("two crossing caps, 50 accounts and 7 regions", &["account", "region"]),
    ("one cap over the policy", &["policy"]),
];

fn scoped(scopes: &[&'static str]) -> PolicyBuilder {
    let cap = |policy: PolicyBuilder, scope: &&'static str| {
        let scope = *scope;
        policy.concurrency(move |c| c.named(scope).max(1e6).scope(scope))
    };
    scopes.iter().fold(wide_open(), cap)
}

pub(crate) async fn run(bench: &Bench, table: &mut Table) {
    for tickers in [1, 4] {
        for (name, scopes) in SHAPES {
            let (mut plain, mut ours) = (Vec::new(), Vec::new());
            // The first shape has a target: nine pairs. The others are for the reader.
            let has_target = tickers == 1 && scopes.len() == 1 && scopes[0] != "policy";
            for round in 0..if has_target { 18 } else { 6 } {
                let is_plain = round % 2 == 0;
                bench.empty().await;
                bench.execute("TRUNCATE fairgate.scope, fairgate.scope_delta").await;
                let mut crew = Vec::new();
                for _ in 0..tickers {
                    let policy = if is_plain { wide_open() } else { scoped(scopes) };
                    crew.push(bench.ticker(policy, large_ticks(), Lean::new()).await);
                }
                bench.execute(&format!("INSERT INTO fairgate.ticker (id, serves) SELECT gen_random_uuid(), 'every policy' FROM generate_series(1, {tickers})")).await;
                bench.fill(JOBS, TENANTS).await;
                bench.execute("UPDATE fairgate.partition SET context = context || jsonb_build_object('account', abs(hashtext(key)) % 50, 'region', abs(hashtext(key || 'r')) % 7)").await;
                bench.execute("VACUUM ANALYZE fairgate.partition").await;
                let took = drain(bench, crew).await;
                if is_plain { plain.push(took) } else { ours.push(took) }
            }
            let (plain, ours) = (median(&plain), median(&ours));
            table.push(Row {
                section: "gates of a coarser scope besides, beside the same policy without",
                what: format!("{JOBS} jobs, {TENANTS} partitions, {tickers} ticker(s): {name}"),
                ratio: Some(plain / ours),
                target: has_target.then_some(0.9),
                at_most: false,
                figures: format!(
                    "{:.0} jobs/s beside {:.0}",
                    f64::from(JOBS) / ours,
                    f64::from(JOBS) / plain
                ),
            });
        }
    }
}

/// Every ticker goes on until nothing waits: one that finds all scopes taken rests as long as it is told to.
async fn drain(bench: &Bench, crew: Vec<Ticker>) -> f64 {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for mut ticker in crew {
        let pool = bench.pool.clone();
        tasks.spawn(async move {
            let mut conn = pool.acquire().await.expect("a connection");
            loop {
                let pass = ticker.pass(&mut conn, None, None).await.expect("a pass");
                if pass.busy {
                    continue;
                }
                let waits: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM fairgate.staged)")
                    .fetch_one(&mut *conn)
                    .await
                    .expect("an answer");
                if !waits {
                    return;
                }
                tokio::time::sleep(pass.wait.min(Duration::from_millis(20))).await;
            }
        });
    }
    tasks.join_all().await;
    began.elapsed().as_secs_f64()
}
