//! The adaptive cap, fed by what the queue's triggers see.

use fairgate::Policy;

use crate::world::{World, policy};

fn adaptive() -> Policy {
    policy("p").adaptive_concurrency(|a| a.initial_max(4.0).target_lag_ms(1000.0)).build().expect("a policy")
}

/// A worker begins and ends every job, so many milliseconds after its admission.
async fn run_all(world: &World, lag_ms: i64, end: &str) {
    world.execute("UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = attempts + 1 WHERE attempts < max_attempts").await;
    world
        .execute(&format!("UPDATE fairgate.in_flight SET lag_ms = {lag_ms} WHERE started_at IS NOT NULL"))
        .await;
    world.execute(end).await;
}

const COMPLETE: &str = "DELETE FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL";
const DIE: &str = "UPDATE graphile_worker._private_jobs SET attempts = max_attempts; UPDATE graphile_worker._private_jobs SET locked_at = NULL";

async fn cap(world: &World) -> i64 {
    world
        .number("SELECT (gates #>> '{adaptive_concurrency,cap}')::float8::bigint FROM fairgate.partitions")
        .await
}

#[tokio::test]
async fn the_cap_grows_while_starts_are_prompt_and_falls_when_they_are_not() {
    let mut world = World::new(vec![adaptive()]).await;
    world.stage("p", "a", 100).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4);
    assert_eq!(
        world
            .number("SELECT (limits ->> 'adaptive_concurrency')::bigint FROM fairgate.in_flight LIMIT 1")
            .await,
        4
    );
    // Prompt: half of the cap more for each generation.
    run_all(&world, 10, COMPLETE).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 6);
    run_all(&world, 10, COMPLETE).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 9);
    // Slow: a twentieth less, once a generation, however many jobs say so.
    run_all(&world, 9_000, COMPLETE).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 8);
    // Dead: half.
    run_all(&world, 10, DIE).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4);
    assert_eq!(cap(&world).await, 4);
    assert_eq!(
        world.number("SELECT count(*) FROM fairgate.partition_state WHERE lessons IS NOT NULL").await,
        0
    );
    world.audit().await;
}

#[tokio::test]
async fn lessons_wait_for_the_next_look_and_a_rolled_back_tick_loses_none() {
    let mut world = World::new(vec![adaptive()]).await;
    world.stage("p", "a", 8).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4);
    run_all(&world, 10, COMPLETE).await;
    world.execute("CREATE FUNCTION public.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '53200'; END $$;
                   CREATE TRIGGER no BEFORE INSERT ON graphile_worker._private_jobs FOR EACH ROW EXECUTE FUNCTION public.no()").await;
    let mut conn = world.db.connect().await;
    world.ticker.pass(&mut conn, None, None).await.unwrap_err();
    assert_eq!(
        world.number("SELECT jsonb_array_length(lessons)::bigint FROM fairgate.partition_state").await,
        4
    );
    world.execute("DROP TRIGGER no ON graphile_worker._private_jobs").await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4, "four are left");
    assert_eq!(cap(&world).await, 6);
}

#[tokio::test]
async fn a_job_that_was_removed_before_it_began_teaches_nothing() {
    let mut world = World::new(vec![adaptive()]).await;
    world.stage("p", "a", 30).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4);
    world.execute("DELETE FROM graphile_worker._private_jobs").await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4);
    assert_eq!(cap(&world).await, 4);
    // The functions for workers without hooks say how a job ended.
    world.execute("SELECT fairgate.started(admission_id) FROM fairgate.in_flight").await;
    world.execute("SELECT fairgate.finished(admission_id, 'ignored') FROM fairgate.in_flight").await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4);
    assert_eq!(cap(&world).await, 4);
    world.execute("SELECT fairgate.started(admission_id) FROM fairgate.in_flight").await;
    world.execute("SELECT fairgate.finished(admission_id, 'failed') FROM fairgate.in_flight").await;
    assert_eq!(
        world.pass().await.ticks.jobs_admitted,
        4,
        "with nothing in flight the cap counts as initial_max"
    );
    assert_eq!(cap(&world).await, 2);
}

#[tokio::test]
async fn the_lag_is_that_of_the_first_start() {
    let mut world = World::new(vec![adaptive()]).await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 1);
    world.execute("UPDATE fairgate.in_flight SET admitted_at = admitted_at - interval '5 seconds'; SELECT fairgate.started(admission_id) FROM fairgate.in_flight").await;
    let lag = "SELECT round(lag_ms / 1000)::bigint FROM fairgate.in_flight";
    assert_eq!(world.number(lag).await, 5);
    world.execute("UPDATE fairgate.in_flight SET started_at = NULL, admitted_at = admitted_at - interval '1 hour'; SELECT fairgate.heartbeat(admission_id) FROM fairgate.in_flight").await;
    assert_eq!(world.number(lag).await, 5);
}
