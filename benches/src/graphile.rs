//! The whole tick into Graphile Worker's tables, beside its own `add_jobs` alone in batches of the same size.

use std::time::Instant;

use crate::admission::admit_all;
use crate::setup::{Bench, graphile, large_ticks, wide_open};
use crate::table::{Row, Table, median};

const JOBS: u32 = 20_000;
const BATCH: u32 = 5_000;

pub(crate) async fn run(bench: &Bench, table: &mut Table) {
    for tenants in [100, 1_000] {
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for round in 0..5 {
            bench.empty().await;
            let ticker = bench.ticker(wide_open(), large_ticks(), graphile()).await;
            bench.fill(JOBS, tenants).await;
            if round % 2 == 0 {
                theirs.push(add_jobs(bench).await);
                bench.execute("TRUNCATE graphile_worker._private_jobs CASCADE; CHECKPOINT").await;
                ours.push(admit_all(bench, vec![ticker]).await);
            } else {
                ours.push(admit_all(bench, vec![ticker]).await);
                bench.execute("TRUNCATE graphile_worker._private_jobs CASCADE; CHECKPOINT").await;
                theirs.push(add_jobs(bench).await);
            }
        }
        let (theirs, ours) = (median(&theirs), median(&ours));
        table.push(Row {
            section: "the whole tick into Graphile Worker, beside its add_jobs alone",
            what: format!("{JOBS} jobs, {tenants} partitions, batches of {BATCH}"),
            ratio: Some(theirs / ours),
            target: Some(0.45),
            at_most: false,
            figures: format!("{:.0} jobs/s beside {:.0}", f64::from(JOBS) / ours, f64::from(JOBS) / theirs),
        });
    }
    bench.empty().await;
}

/// The batches stand ready as arrays; only the calls are timed.
async fn add_jobs(bench: &Bench) -> f64 {
    bench.execute(include_str!("../queries/graphile_batches.sql")).await;
    let mut conn = bench.pool.acquire().await.expect("a connection");
    let began = Instant::now();
    for batch in 0..JOBS / BATCH {
        let call = sqlx::query(include_str!("../queries/graphile_add_jobs.sql"))
            .bind(i32::try_from(batch).expect("small"));
        call.execute(&mut *conn).await.expect("added");
    }
    began.elapsed().as_secs_f64()
}
