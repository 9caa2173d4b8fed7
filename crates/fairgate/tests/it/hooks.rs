//! Our triggers on the queue's table: they never fail its transactions, and leave the jobs of others alone.

use fairgate::Settings;
use sqlx::Acquire;

use crate::wait::{pid, until_it_waits};
use crate::worker::{pool_with, work, worker};
use crate::world::{World, bypassing, capped};

#[tokio::test]
async fn hooks_that_cannot_do_their_work_never_fail_the_queues_transaction() {
    let broken = [
        "ALTER TABLE fairgate.in_flight RENAME TO gone",
        "ALTER TABLE fairgate.delta RENAME TO gone",
        "DROP FUNCTION fairgate.release(uuid, text)",
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
    let ending = tokio::spawn(async move {
        sqlx::query("DELETE FROM graphile_worker._private_jobs").execute(&mut queue).await
    });
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
        "NULL",
        "'{}'",
        "'{\"other\": true}'",
        "'{\"fairgate\": true}'",
        "'{\"fairgate\": {}}'",
        "'{\"fairgate\": {\"a\": null}}'",
        "'{\"fairgate\": {\"a\": \"no uuid\"}}'",
        "'{\"fairgate\": {\"a\": \"00000000-0000-0000-0000-000000000000\"}}'",
        "'{\"fairgate\": []}'",
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
    assert_eq!(
        world
            .number(
                "SELECT count(*) FROM graphile_worker._private_jobs WHERE attempts = 1 AND locked_at IS NULL"
            )
            .await,
        flags.len() as i64
    );
    assert_eq!(world.text(ours).await, slots, "no slot of ours is touched");
    assert_eq!(world.number("SELECT count(*) FROM fairgate.delta").await, 0);
    world.audit().await;
}

#[tokio::test]
async fn with_bypass_a_job_that_goes_back_to_the_queue_keeps_its_slot_and_one_that_cannot_run_again_frees_it()
{
    let mut world = World::new(vec![bypassing("p", 2.0)]).await;
    world.stage_jobs("p", &[work(1, false).max_attempts(2), work(2, false).max_attempts(1)]).await;
    assert_eq!(world.settle().await, 2);
    // A worker fetches both, dies, and its locks are taken away: the first may run again, the second has had its only attempt.
    world.execute("UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'dead', attempts = attempts + 1").await;
    assert_eq!(world.number("SELECT count(*) FROM fairgate.in_flight WHERE started_at IS NOT NULL").await, 2);
    world.execute("SELECT graphile_worker.force_unlock_workers(ARRAY['dead'])").await;
    let held = "SELECT json_build_array(j.max_attempts, f.started_at)::text FROM fairgate.in_flight f
                  JOIN graphile_worker._private_jobs j ON j.id::text = f.queue_job_id";
    assert_eq!(world.column(held).await, ["[2, null]"]);
    world.audit().await;
    let (worker, seen) = worker(&world, world.pool().clone()).await;
    world.execute("UPDATE graphile_worker._private_jobs SET run_at = now()").await;
    worker.run_once().await.unwrap();
    assert_eq!(*seen.0.lock().unwrap(), [(1, true)]);
    assert_eq!(world.in_flight().await, 0);
}

#[tokio::test]
async fn for_jobs_of_others_our_functions_are_not_even_called() {
    let world = World::new(vec![capped("p", 1.0)]).await;
    world.execute("CREATE TABLE public.called (name text)").await;
    for name in ["started", "unlocked", "deleted"] {
        world
            .execute(&format!(
                "CREATE OR REPLACE FUNCTION fairgate.graphile_worker_{name}() RETURNS trigger LANGUAGE plpgsql AS
                   $$ BEGIN INSERT INTO public.called VALUES ('{name}'); RETURN NULL; END $$"
            ))
            .await;
    }
    let life = |flags: &str| {
        format!(
            "SELECT graphile_worker.add_job('work', '{{}}');
             UPDATE graphile_worker._private_jobs SET flags = {flags};
             UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = 1;
             UPDATE graphile_worker._private_jobs SET locked_at = NULL, attempts = max_attempts;
             DELETE FROM graphile_worker._private_jobs"
        )
    };
    for flags in ["NULL", "'{}'", "'{\"other\": true}'"] {
        world.execute(&life(flags)).await;
    }
    assert_eq!(world.column("SELECT name FROM public.called").await, [] as [&str; 0]);
    world.execute(&life("'{\"fairgate\": {}}'")).await;
    assert_eq!(world.column("SELECT name FROM public.called").await, ["started", "unlocked", "deleted"]);
}
