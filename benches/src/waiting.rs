//! A tick over 100,000 partitions that all wait for their time, beside a tick over 1,000 such.

use std::time::Instant;

use fairgate::Policy;

use crate::lean::Lean;
use crate::setup::{Bench, large_ticks};
use crate::table::{Row, Table, median};

pub(crate) async fn run(bench: &Bench, table: &mut Table) {
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        few.extend(passes(bench, 1_000).await);
        many.extend(passes(bench, 100_000).await);
    }
    let (few, many) = (median(&few), median(&many));
    table.push(Row {
        section: "a tick over partitions that all wait for their time",
        what: "100,000 partitions beside 1,000".to_owned(),
        ratio: Some(many / few),
        target: Some(2.0),
        at_most: true,
        figures: format!("{:.2} ms beside {:.2} ms", many * 1e3, few * 1e3),
    });
    bench.empty().await;
}

/// Two jobs a tenant at one an hour: the first is admitted, the second waits.
async fn passes(bench: &Bench, tenants: u32) -> Vec<f64> {
    bench.empty().await;
    let hourly = Policy::builder("bench").throttle(|t| t.rate(1.0).per(std::time::Duration::from_secs(3600)));
    let mut ticker = bench.ticker(hourly, large_ticks(), Lean::new()).await;
    bench.fill(tenants * 2, tenants).await;
    let mut conn = bench.pool.acquire().await.expect("a connection");
    while ticker.pass(&mut conn, None, None).await.expect("a pass").busy {}
    for table in ["fairgate.partition_state", "fairgate.staged"] {
        bench.execute(&format!("VACUUM ANALYZE {table}")).await;
    }
    let mut times = Vec::new();
    for _ in 0..50 {
        let began = Instant::now();
        let pass = ticker.pass(&mut conn, None, None).await.expect("a pass");
        times.push(began.elapsed().as_secs_f64());
        assert!(!pass.busy, "all of them wait");
    }
    times
}
