//! The whole trip with unchanged Graphile workers in two processes: throughput under an exact cap, and the wait behind a noisy tenant.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use fairgate::{NewJob, Policy, Settings};
use serde_json::json;

use crate::setup::{Bench, graphile};
use crate::table::{Row, Table};

pub(crate) async fn run(bench: &Bench, table: &mut Table) {
    for tenants in [100, 1_000] {
        let jobs = 20_000;
        let seconds = throughput(bench, jobs, tenants).await;
        table.push(Row {
            section: "the whole trip, stage to done, exact concurrency of 5 a tenant, two worker processes",
            what: format!("{jobs} no-op jobs, {tenants} tenants: thousands of jobs a second"),
            ratio: Some(f64::from(jobs) / seconds / 1e3),
            target: Some(3.0),
            at_most: false,
            figures: format!("{:.0} jobs/s, {seconds:.1} s", f64::from(jobs) / seconds),
        });
    }
    for with_fairgate in [false, true] {
        let waits = behind_a_noisy_tenant(bench, with_fairgate).await;
        let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize];
        table.push(Row {
            section: "wait of 99 tenants with 10 jobs each that come behind one with 10,000 (20 ms jobs, 20 slots)",
            what: if with_fairgate { "with fairgate in front" } else { "the same queue without fairgate" }.to_owned(),
            ratio: None,
            target: None,
            at_most: false,
            figures: format!("p50 {:.2} s, p95 {:.2} s, max {:.2} s", at(0.5), at(0.95), at(1.0)),
        });
    }
}

/// Two worker processes, ended on drop.
struct Workers(Vec<Child>);

impl Workers {
    fn start(bench: &Bench, concurrency: &str, local_queue: &[&str]) -> Self {
        let me = std::env::current_exe().expect("a path");
        let start = |_| {
            Command::new(&me)
                .args(["worker", &bench.url, concurrency])
                .args(local_queue)
                .spawn()
                .expect("a worker")
        };
        Self((0..2).map(start).collect())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

fn job(tenant: &str, sleep_ms: u64) -> NewJob {
    let job = NewJob::new("noop").payload(&json!({ "sleep_ms": sleep_ms })).expect("JSON");
    job.context(&json!({ "tenant": tenant })).expect("an object")
}

async fn throughput(bench: &Bench, jobs: u32, tenants: u32) -> f64 {
    bench.empty().await;
    let settings = Settings { partition_batch_size: 500, ..Settings::default() };
    let ticker =
        bench.ticker(Policy::builder("bench").concurrency(|c| c.max(5.0)), settings, graphile()).await;
    let _workers = Workers::start(bench, "32", &["200"]);
    // One job through the whole house first, so that everybody is up.
    stage(bench, &[job("warm-up", 0)]).await;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(ticker.run(async { drop(stopped.await) }));
    done(bench).await;
    let jobs: Vec<NewJob> = (0..jobs).map(|n| job(&format!("tenant-{}", n % tenants), 0)).collect();
    let began = Instant::now();
    stage(bench, &jobs).await;
    done(bench).await;
    let seconds = began.elapsed().as_secs_f64();
    let _ = stop.send(());
    running.await.expect("joined").expect("ran");
    seconds
}

async fn stage(bench: &Bench, jobs: &[NewJob]) {
    fairgate::stage_many(&mut bench.pool.acquire().await.expect("a connection"), "bench", jobs)
        .await
        .expect("staged");
}

/// Polls until nothing is left anywhere.
async fn done(bench: &Bench) {
    let left = "SELECT (EXISTS (SELECT FROM fairgate.staged) OR EXISTS (SELECT FROM fairgate.in_flight)
                        OR EXISTS (SELECT FROM graphile_worker._private_jobs))::int::bigint";
    while bench.number(left).await > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Seconds from staging to done of each of the 990 jobs, sorted.
async fn behind_a_noisy_tenant(bench: &Bench, with_fairgate: bool) -> Vec<f64> {
    bench.empty().await;
    bench.execute(include_str!("../queries/watch_ends.sql")).await;
    let policy = Policy::builder("bench").concurrency(|c| c.max(10.0));
    let ticker = bench.ticker(policy, Settings::default(), graphile()).await;
    if !with_fairgate {
        fairgate::operate::set_enabled(&mut bench.pool.acquire().await.expect("a connection"), false)
            .await
            .expect("disabled");
    }
    let _workers = Workers::start(bench, "10", &["20"]);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(ticker.run(async { drop(stopped.await) }));
    let noisy: Vec<NewJob> = (0..10_000).map(|_| job("noisy", 20)).collect();
    stage(bench, &noisy).await;
    let quiet: Vec<NewJob> = (0..990).map(|n| job(&format!("tenant-{}", n % 99), 20)).collect();
    bench.execute("UPDATE bench.quiet SET staged_at = clock_timestamp()").await;
    stage(bench, &quiet).await;
    done(bench).await;
    let _ = stop.send(());
    running.await.expect("joined").expect("ran");
    fairgate::operate::set_enabled(&mut bench.pool.acquire().await.expect("a connection"), true)
        .await
        .expect("enabled");
    let waits: Vec<f64> = sqlx::query_scalar(include_str!("../queries/quiet_waits.sql"))
        .fetch_all(&bench.pool)
        .await
        .expect("waits");
    bench.execute("DROP TRIGGER bench_ends ON graphile_worker._private_jobs").await;
    waits
}
