//! Real, unchanged workers of the `graphile_worker` crate.

use std::sync::{Arc, Mutex};

use fairgate::NewJob;
use graphile_worker::{IntoTaskHandlerResult, TaskHandler, Worker, WorkerContext, WorkerOptions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool};

use crate::world::{World, bypassing, capped, job};

/// What the tasks saw: the job's number, and whether its start was recorded when it ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(pub(crate) Arc<Mutex<Vec<(i64, bool)>>>);

#[derive(Serialize, Deserialize)]
struct Work {
    n: i64,
    fail: bool,
}

impl TaskHandler for Work {
    const IDENTIFIER: &'static str = "work";

    async fn run(self, ctx: WorkerContext) -> impl IntoTaskHandlerResult {
        let started = "SELECT EXISTS (SELECT FROM fairgate.in_flight WHERE queue_job_id = $1::bigint::text AND started_at IS NOT NULL)";
        let pool = ctx.get_ext::<PgPool>().expect("the test's pool");
        let started = sqlx::query_scalar(started).bind(ctx.job().id()).fetch_one(pool).await.unwrap_or(false);
        let seen = ctx.get_ext::<Seen>().expect("the test's list");
        seen.0.lock().expect("no panic while it was held").push((self.n, started));
        if self.fail { Err("failed on purpose") } else { Ok(()) }
    }
}

pub(crate) fn work(n: i64, fail: bool) -> NewJob {
    job("t").payload(&Work { n, fail }).expect("a payload")
}

/// A worker that uses `pool`; its tasks look through the test's own.
pub(crate) async fn worker(world: &World, pool: PgPool) -> (Worker, Seen) {
    let seen = Seen::default();
    let options = WorkerOptions::default().pg_pool(pool).schema("graphile_worker").concurrency(2);
    let options = options
        .listen_os_shutdown_signals(false)
        .add_extension(seen.clone())
        .add_extension(world.pool().clone());
    (options.define_job::<Work>().init().await.expect("a worker"), seen)
}

/// A pool whose sessions begin with these statements.
pub(crate) async fn pool_with(world: &World, begin: &str) -> PgPool {
    let begin = begin.to_owned();
    let options = PgPoolOptions::new().max_connections(4).after_connect(move |conn, _| {
        let begin = begin.clone();
        Box::pin(async move {
            sqlx::raw_sql(AssertSqlSafe(begin)).execute(conn).await?;
            Ok(())
        })
    });
    options.connect(world.db.url()).await.expect("connected")
}

#[tokio::test]
async fn an_unchanged_worker_runs_admitted_jobs_and_its_hooks_see_start_and_success() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    let (worker, seen) = worker(&world, world.pool().clone()).await;
    let jobs: Vec<_> = (0..5).map(|n| work(n, false)).collect();
    world.stage_jobs("p", &jobs).await;
    for expected in [2, 2, 1] {
        assert_eq!(world.settle().await, expected);
        assert_eq!(
            world.number("SELECT count(*) FROM fairgate.in_flight WHERE started_at IS NULL").await,
            expected as i64
        );
        worker.run_once().await.unwrap();
        assert_eq!((world.in_flight().await, world.queue_length().await), (0, 0));
        world.audit().await;
    }
    let mut seen = seen.0.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, (0..5).map(|n| (n, true)).collect::<Vec<_>>());
}

#[tokio::test]
async fn with_bypass_a_failure_that_is_retried_keeps_the_slot_and_the_final_death_frees_it() {
    let mut world = World::new(vec![bypassing("p", 1.0)]).await;
    let (worker, seen) = worker(&world, world.pool().clone()).await;
    world.stage_jobs("p", &[work(1, true).max_attempts(2), work(2, false)]).await;
    assert_eq!(world.settle().await, 1);
    worker.run_once().await.unwrap();
    let slot = "SELECT count(*) FROM fairgate.in_flight WHERE started_at IS NULL";
    assert_eq!(world.number(slot).await, 1, "it waits for its next attempt");
    assert_eq!(world.settle().await, 0);
    world.audit().await;

    world.execute("UPDATE graphile_worker._private_jobs SET run_at = now()").await;
    worker.run_once().await.unwrap();
    assert_eq!(world.in_flight().await, 0);
    let dead = "SELECT json_build_array(attempts, max_attempts, last_error LIKE '%failed on purpose%')::text FROM graphile_worker._private_jobs";
    assert_eq!(world.column(dead).await, ["[2, 2, true]"], "the dead row stays where the queue keeps it");
    world.audit().await;
    assert_eq!(world.settle().await, 1);
    worker.run_once().await.unwrap();
    assert_eq!(*seen.0.lock().unwrap(), [(1, true), (1, true), (2, true)]);
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_the_worker_cannot_decode_frees_its_slot_when_it_is_given_up() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    let (worker, seen) = worker(&world, world.pool().clone()).await;
    let undecodable = job("t").payload(&json!({ "n": "no number" })).expect("a payload").max_attempts(1);
    world.stage_jobs("p", &[undecodable, work(2, false)]).await;
    assert_eq!(world.settle().await, 1);
    worker.run_once().await.unwrap();
    assert_eq!(world.in_flight().await, 0);
    assert_eq!(world.settle().await, 1);
    worker.run_once().await.unwrap();
    assert_eq!(*seen.0.lock().unwrap(), [(2, true)]);
    world.audit().await;
}

#[tokio::test]
async fn a_worker_whose_role_has_no_rights_on_our_schema_frees_slots_all_the_same() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    let role = format!("w_{}", world.db.name());
    world
        .execute(&format!(
            "CREATE ROLE {role} BYPASSRLS;
             GRANT USAGE, CREATE ON SCHEMA graphile_worker TO {role};
             GRANT ALL ON ALL TABLES IN SCHEMA graphile_worker TO {role}; GRANT ALL ON ALL SEQUENCES IN SCHEMA graphile_worker TO {role};
             GRANT ALL ON ALL FUNCTIONS IN SCHEMA graphile_worker TO {role}"
        ))
        .await;
    let pool = pool_with(&world, &format!("SET ROLE {role}")).await;
    let refused = sqlx::query("SELECT FROM fairgate.in_flight").execute(&pool).await.unwrap_err();
    assert!(refused.to_string().contains("permission denied for schema fairgate"), "{refused}");
    let (worker, seen) = worker(&world, pool).await;
    world.stage_jobs("p", &[work(1, false), work(2, true).max_attempts(1), work(3, false)]).await;
    for _ in 0..3 {
        assert_eq!(world.settle().await, 1);
        worker.run_once().await.unwrap();
    }
    assert_eq!(*seen.0.lock().unwrap(), [(1, true), (2, true), (3, true)]);
    assert_eq!(world.in_flight().await, 0);
    world.execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
}
