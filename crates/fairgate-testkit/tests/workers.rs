//! Real, unchanged workers of other languages, in processes of their own: 1,000 jobs each, with failures and with workers that are killed.
//!
//! They need Node and Python packages, so they run only where asked for: `make test-queues`.

mod workers {
    pub(crate) mod crew;
}

use fairgate::queue::{Apalis, GraphileWorker, PgBoss, Pgmq, Procrastinate, Queue};
use workers::crew::Crew;

const JOBS: i64 = 1_000;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Node's packages: make test-queues"]
async fn pg_boss_under_node() {
    let queue = PgBoss::new("pgboss").expect("a name");
    run(Crew::of(queue, "node", &["pg-boss.mjs"], "SELECT 1").await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Node's packages: make test-queues"]
async fn graphile_worker_under_node() {
    let queue = GraphileWorker::new("graphile_worker").expect("a name");
    run(Crew::of(queue, "node", &["graphile-worker.mjs"], "SELECT 1").await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Python's packages: make test-queues"]
async fn procrastinate_under_python() {
    let queue = Procrastinate::new("public").expect("a name");
    let install = include_str!("../../fairgate-cli/fixtures/queues/procrastinate/install.sql");
    run(Crew::of(queue, "python", &["procrastinate_worker.py"], install).await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes a while: make test-queues"]
async fn pgmq_by_its_sql() {
    let queue = Pgmq::new("pgmq").expect("a name");
    let install = concat!(
        include_str!("../../fairgate-cli/fixtures/queues/pgmq/install.sql"),
        "\n;SELECT pgmq.create('work')"
    );
    run(Crew::of(queue, "node", &["pgmq.mjs"], install).await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "builds a worker of its own: make test-queues"]
async fn apalis_in_rust() {
    let queue = Apalis::new("apalis").expect("a name");
    let install = include_str!("../../fairgate-cli/fixtures/queues/apalis/install.sql");
    run(Crew::of(queue, "rust", &["apalis"], install).await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "builds a worker of its own: make test-queues"]
async fn graphile_worker_in_rust() {
    let queue = GraphileWorker::new("graphile_worker").expect("a name");
    run(Crew::of(queue, "rust", &["graphile_worker"], "SELECT 1").await).await;
}

/// Every job runs to its end, each failing one once more than it fails, none beyond its tenant's cap, and every slot comes back.
async fn run(mut crew: Crew<impl Queue + Clone + 'static>) {
    crew.stage(JOBS).await;
    crew.work_until_done().await;
    assert_eq!(crew.number("SELECT count(DISTINCT n) FROM public.ran WHERE ended IS NOT NULL").await, JOBS);
    let cut_off = "SELECT count(*) FROM public.ran WHERE ended IS NULL";
    assert!(crew.killed() >= 1, "no worker was killed");
    // A run that was cut off counts: it may have been the one that fails.
    let wrong = "SELECT count(*) FROM (SELECT n, count(*) AS runs, bool_or(fails) AS fails FROM public.ran GROUP BY n) r
                  WHERE runs < 1 + fails::int";
    assert_eq!(crew.number(wrong).await, 0, "a failed job was not tried again");
    // Runs that a killed worker left without an end are not counted: nobody knows when they ended.
    let beyond = "SELECT count(*) FROM public.ran r WHERE ended IS NOT NULL
                   AND 5 <= (SELECT count(*) FROM public.ran o WHERE o.tenant = r.tenant AND o.id <> r.id AND o.began <= r.began AND o.ended > r.began)";
    assert_eq!(crew.number(beyond).await, 0, "a tenant had more than five at once");
    assert_eq!(crew.number("SELECT count(*) FROM fairgate.in_flight").await, 0);
    assert_eq!(crew.number("SELECT count(*) FROM fairgate.staged").await, 0);
    crew.audit().await;
    eprintln!("{} workers killed, {} runs cut off", crew.killed(), crew.number(cut_off).await);
}
