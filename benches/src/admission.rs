//! Admission into a lean table, beside moving the same rows with one statement per connection and no policies.

use std::time::Instant;

use fairgate::{Settings, Ticker};
use tokio::task::JoinSet;

use crate::lean::Lean;
use crate::setup::{Bench, large_ticks, wide_open};
use crate::table::{Row, Table, median};

const SHAPES: [(u32, u32); 3] = [(20_000, 100), (50_000, 1_000), (100_000, 10_000)];

pub(crate) async fn run(bench: &Bench, table: &mut Table) {
    for (jobs, tenants) in SHAPES {
        for (tickers, target) in [(1, 0.45), (4, 0.6)] {
            for (name, settings, target, rounds) in [
                ("500 partitions, 5,000 jobs a tick", large_ticks(), Some(target), 5),
                ("the default batch sizes", Settings::default(), None, 1),
            ] {
                let (mut raw, mut ours) = (Vec::new(), Vec::new());
                for round in 0..rounds {
                    bench.empty().await;
                    let mut crew = Vec::new();
                    for _ in 0..tickers {
                        crew.push(bench.ticker(wide_open(), settings.clone(), Lean::new()).await);
                    }
                    // Tickers that run say so themselves; these are driven pass by pass.
                    bench.execute(&format!("INSERT INTO fairgate.ticker (id, serves) SELECT gen_random_uuid(), 'every policy' FROM generate_series(1, {tickers})")).await;
                    bench.fill(jobs, tenants).await;
                    // Who goes first takes turns.
                    if round % 2 == 0 {
                        raw.push(move_raw(bench, tickers).await);
                        bench.execute("TRUNCATE bench.lean; CHECKPOINT").await;
                        ours.push(admit_all(bench, crew).await);
                    } else {
                        ours.push(admit_all(bench, crew).await);
                        bench.execute("TRUNCATE bench.lean; CHECKPOINT").await;
                        raw.push(move_raw(bench, tickers).await);
                    }
                    assert_eq!(
                        bench.number("SELECT count(*) FROM fairgate.staged").await,
                        0,
                        "all was admitted"
                    );
                    assert_eq!(
                        bench.number("SELECT count(*) FROM fairgate.in_flight").await,
                        i64::from(jobs),
                        "each once"
                    );
                }
                let (raw, ours) = (median(&raw), median(&ours));
                table.push(Row {
                    section: "admission into a lean table, beside moving the rows with one statement",
                    what: format!("{jobs} jobs, {tenants} partitions, {tickers} ticker(s), {name}"),
                    ratio: Some(raw / ours),
                    target,
                    at_most: false,
                    figures: format!(
                        "{:.0} jobs/s beside {:.0}",
                        f64::from(jobs) / ours,
                        f64::from(jobs) / raw
                    ),
                });
            }
        }
    }
}

async fn move_raw(bench: &Bench, connections: u32) -> f64 {
    let began = Instant::now();
    let mut movers = JoinSet::new();
    for part in 0..connections {
        let pool = bench.pool.clone();
        let (part, parts) = (i64::from(part), i64::from(connections));
        movers.spawn(async move {
            let moved = sqlx::query(include_str!("../queries/move_raw.sql"))
                .bind(part)
                .bind(parts)
                .execute(&pool)
                .await;
            moved.expect("moved");
        });
    }
    movers.join_all().await;
    began.elapsed().as_secs_f64()
}

pub(crate) async fn admit_all(bench: &Bench, crew: Vec<Ticker>) -> f64 {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for mut ticker in crew {
        let pool = bench.pool.clone();
        tasks.spawn(async move {
            let mut conn = pool.acquire().await.expect("a connection");
            while ticker.pass(&mut conn, None, None).await.expect("a pass").busy {}
        });
    }
    tasks.join_all().await;
    began.elapsed().as_secs_f64()
}
