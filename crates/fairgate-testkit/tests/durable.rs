//! A tick's commit is not waited for until it is on disk. A server that dies at once afterwards loses the whole tick or nothing of it.

use fairgate::queue::GraphileWorker;
use fairgate::{NewJob, Policy, Ticker};
use fairgate_localpg::LocalPg;
use serde_json::json;
use sqlx::{Connection, PgConnection, PgPool};

const JOBS: i64 = 50;

async fn start(dir: &std::path::Path) -> (LocalPg, PgPool) {
    let builder = LocalPg::builder().dir(dir).durable(true);
    let server = tokio::task::spawn_blocking(move || builder.start()).await.expect("joined");
    let server = server.unwrap_or_else(|e| panic!("{e}"));
    let mut conn = PgConnection::connect(&server.url("postgres")).await.expect("connected");
    // There after the first time.
    let _ = sqlx::query("CREATE DATABASE fair").execute(&mut conn).await;
    let pool = PgPool::connect(&server.url("fair")).await.expect("connected");
    (server, pool)
}

async fn number(pool: &PgPool, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(pool).await.expect("a number")
}

/// The server's processes end at once, as in a power cut: what was not on disk is gone.
async fn kill(server: LocalPg) {
    let killed =
        std::process::Command::new("kill").args(["-QUIT", &server.server_pid().to_string()]).status();
    assert!(killed.expect("kill runs").success());
    // It is gone already; this tidies up behind it.
    let _ = tokio::task::spawn_blocking(move || server.stop()).await.expect("joined");
}

async fn admit_all(pool: &PgPool) {
    let policy = Policy::builder("p").queue("main").partition_by("tenant").build().expect("a policy");
    let queue = GraphileWorker::new("graphile_worker").expect("a name");
    let builder = Ticker::builder(pool.clone()).queue("main", queue).expect("a name").policy(policy);
    let mut ticker = builder.register().await.expect("registered");
    let mut conn = pool.acquire().await.expect("a connection");
    let jobs: Vec<NewJob> = (0..JOBS)
        .map(|n| NewJob::new("work").context(&json!({ "tenant": format!("t{}", n % 5) })).expect("a context"))
        .collect();
    fairgate::stage_many(&mut conn, "p", &jobs).await.expect("staged");
    // What an earlier death brought back goes too.
    assert!(ticker.pass(&mut conn, None, None).await.expect("a pass").ticks.jobs_admitted >= JOBS as u64);
}

#[tokio::test]
async fn a_server_that_dies_right_after_a_tick_has_each_job_once() {
    let home = tempfile::tempdir().expect("a folder");
    let dir = home.path().join("pg");
    let (mut server, mut pool) = start(&dir).await;
    graphile_worker::WorkerOptions::default()
        .pg_pool(pool.clone())
        .schema("graphile_worker")
        .listen_os_shutdown_signals(false)
        .init()
        .await
        .expect("the queue's tables");
    fairgate::migrate(&mut pool.acquire().await.expect("a connection")).await.expect("migrated");
    for round in 1..=3 {
        admit_all(&pool).await;
        kill(server).await;
        pool.close().await;
        (server, pool) = start(&dir).await;
        let staged = number(&pool, "SELECT count(*) FROM fairgate.staged").await;
        let queued = number(&pool, "SELECT count(*) FROM graphile_worker._private_jobs").await;
        assert_eq!(staged + queued, JOBS * round, "nothing lost, nothing twice");
        assert_eq!(number(&pool, "SELECT count(*) FROM fairgate.in_flight").await, queued);
        let wrong = fairgate::doctor::audit(&mut pool.acquire().await.expect("a connection")).await;
        assert_eq!(wrong.expect("an audit"), []);
    }
    pool.close().await;
    tokio::task::spawn_blocking(move || server.stop()).await.expect("joined").expect("stopped");
}
