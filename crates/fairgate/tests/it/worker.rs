//! Real, unchanged workers of the `graphile_worker` crate, and our hooks on their table.

use std::sync::{Arc, Mutex};

use fairgate::{NewJob, Settings};
use graphile_worker::{IntoTaskHandlerResult, TaskHandler, Worker, WorkerContext, WorkerOptions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::postgres::PgPoolOptions;
use sqlx::{Acquire, AssertSqlSafe, PgPool};

use crate::wait::{pid, until_it_waits};
use crate::world::{World, capped, job};

/// What the tasks saw: the job's number, and whether its start was recorded when it ran.
#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<Vec<(i64, bool)>>>);

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

fn work(n: i64, fail: bool) -> NewJob {
    job("t").payload(&Work { n, fail }).expect("a payload")
}

/// A worker that uses `pool`; its tasks look through the test's own.
async fn worker(world: &World, pool: PgPool) -> (Worker, Seen) {
    let seen = Seen::default();
    let options = WorkerOptions::default().pg_pool(pool).schema("graphile_worker").concurrency(2);
    let options = options.listen_os_shutdown_signals(false).add_extension(seen.clone()).add_extension(world.pool().clone());
    (options.define_job::<Work>().init().await.expect("a worker"), seen)
}

/// A pool whose sessions begin with these statements.
async fn pool_with(world: &World, begin: &str) -> PgPool {
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
        assert_eq!(world.number("SELECT count(*) FROM fairgate.in_flight WHERE started_at IS NULL").await, expected as i64);
        worker.run_once().await.unwrap();
        assert_eq!((world.in_flight().await, world.queue_length().await), (0, 0));
        world.audit().await;
    }
    let mut seen = seen.0.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, (0..5).map(|n| (n, true)).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_failure_that_is_retried_keeps_the_slot_and_the_final_death_frees_it() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
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

#[tokio::test]
async fn hooks_that_cannot_do_their_work_never_fail_the_queues_transaction() {
    let broken = [
        "ALTER TABLE fairgate.in_flight RENAME TO gone",
        "ALTER TABLE fairgate.delta RENAME TO gone",
        "DROP FUNCTION fairgate.release(uuid)",
        "ALTER TABLE fairgate.delta ADD CHECK (released = 0) NOT VALID",
    ];
    for fault in broken {
        let mut world = World::new(vec![capped("p", 4.0)]).await;
        let (worker, seen) = worker(&world, world.pool().clone()).await;
        world.stage_jobs("p", &[work(1, false), work(2, true).max_attempts(1)]).await;
        assert_eq!(world.settle().await, 2);
        world.execute(fault).await;
        worker.run_once().await.unwrap();
        assert_eq!(seen.0.lock().unwrap().len(), 2, "{fault}");
        let left = "SELECT json_build_array(attempts, locked_at)::text FROM graphile_worker._private_jobs";
        assert_eq!(world.column(left).await, ["[1, null]"], "{fault}: one done, one dead");
    }
}

#[tokio::test]
async fn a_hook_that_gives_up_on_a_lock_lets_the_job_end_and_the_sweep_frees_its_slot() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    let (worker, seen) = worker(&world, pool_with(&world, "SET lock_timeout = '20ms'").await).await;
    world.stage_jobs("p", &[work(1, false)]).await;
    world.settle().await;
    let mut other = world.db.connect().await;
    let mut busy = other.begin().await.unwrap();
    sqlx::raw_sql("LOCK fairgate.delta IN ACCESS EXCLUSIVE MODE").execute(&mut *busy).await.unwrap();
    worker.run_once().await.unwrap();
    busy.rollback().await.unwrap();
    assert_eq!(*seen.0.lock().unwrap(), [(1, true)]);
    assert_eq!((world.queue_length().await, world.in_flight().await), (0, 1));
    world.audit().await;
    let later = world.after_ms(2 * 3_600_000).await;
    assert_eq!(world.sweep_at(&Settings::default(), later).await.gone, 1);
}

#[tokio::test]
async fn a_finisher_without_a_lock_timeout_waits_for_our_table_and_frees_its_slot() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "t", 1).await;
    world.settle().await;
    let (mut other, mut queue) = (world.db.connect().await, world.db.connect().await);
    let mut busy = other.begin().await.unwrap();
    sqlx::raw_sql("LOCK fairgate.in_flight IN ACCESS EXCLUSIVE MODE").execute(&mut *busy).await.unwrap();
    let waiting = pid(&mut queue).await;
    let ending = tokio::spawn(async move { sqlx::query("DELETE FROM graphile_worker._private_jobs").execute(&mut queue).await });
    until_it_waits(world.pool(), waiting).await;
    busy.rollback().await.unwrap();
    assert_eq!(ending.await.unwrap().unwrap().rows_affected(), 1);
    assert_eq!(world.in_flight().await, 0);
}

#[tokio::test]
async fn jobs_of_others_run_untouched_whatever_their_flags_say() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage_jobs("p", &[work(0, false)]).await;
    world.settle().await;
    let ours = "SELECT json_agg(f)::text FROM fairgate.in_flight f";
    let slots = world.text(ours).await;
    world.execute("CREATE TABLE public.kept AS SELECT * FROM graphile_worker._private_jobs; ALTER TABLE graphile_worker._private_jobs DISABLE TRIGGER USER;
                   DELETE FROM graphile_worker._private_jobs; ALTER TABLE graphile_worker._private_jobs ENABLE TRIGGER USER").await;
    let flags = [
        "NULL", "'{}'", "'{\"other\": true}'", "'{\"fairgate\": true}'", "'{\"fairgate\": {}}'", "'{\"fairgate\": {\"a\": null}}'",
        "'{\"fairgate\": {\"a\": \"no uuid\"}}'", "'{\"fairgate\": {\"a\": \"00000000-0000-0000-0000-000000000000\"}}'", "'{\"fairgate\": []}'",
    ];
    for (n, flags) in flags.iter().enumerate() {
        for fail in [false, true] {
            world
                .execute(&format!(
                    "SELECT graphile_worker.add_job('work', '{{\"n\": {n}, \"fail\": {fail}}}', max_attempts => 1);
                     UPDATE graphile_worker._private_jobs SET flags = {flags} WHERE id = (SELECT max(id) FROM graphile_worker._private_jobs)"
                ))
                .await;
        }
    }
    let (worker, seen) = worker(&world, world.pool().clone()).await;
    worker.run_once().await.unwrap();
    assert_eq!(seen.0.lock().unwrap().len(), 2 * flags.len());
    assert_eq!(world.number("SELECT count(*) FROM graphile_worker._private_jobs WHERE attempts = 1 AND locked_at IS NULL").await, flags.len() as i64);
    assert_eq!(world.text(ours).await, slots, "no slot of ours is touched");
    assert_eq!(world.number("SELECT count(*) FROM fairgate.delta").await, 0);
    world.audit().await;
}
