//! The sweeps that free slots: each if and only if its condition holds.

use std::time::Duration;

use fairgate::Settings;
use fairgate::sweep::Sweeper;
use sqlx::Acquire;

use crate::world::{World, capped, open};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const YEAR: i64 = 365 * 24 * HOUR;

/// A world with `count` jobs of one tenant in flight.
async fn in_flight(count: usize) -> World {
    let mut world = World::new(vec![open("p")]).await;
    world.stage("p", "a", count).await;
    world.settle().await;
    world
}

async fn silent_and_gone(world: &World, ms: i64) -> (i64, i64) {
    let then = world.after_ms(ms).await;
    let swept = world.sweep_at(&Settings::default(), then).await;
    world.audit().await;
    (swept.silent, swept.gone)
}

#[tokio::test]
async fn a_slot_that_has_beaten_is_freed_once_it_has_been_silent_too_long_whatever_the_queue_shows() {
    let world = in_flight(2).await;
    world
        .execute("UPDATE fairgate.in_flight SET beat_at = clock_timestamp(), started_at = clock_timestamp()")
        .await;
    // One of the two jobs is gone from the queue, without the hook's knowing.
    world.execute("UPDATE graphile_worker._private_jobs SET flags = NULL WHERE id = (SELECT min(id) FROM graphile_worker._private_jobs)").await;
    world.execute("DELETE FROM graphile_worker._private_jobs WHERE flags IS NULL").await;
    assert_eq!(silent_and_gone(&world, 4 * MINUTE).await, (0, 0), "a beat may be five minutes old");
    assert_eq!(silent_and_gone(&world, 6 * MINUTE).await, (2, 0));
    assert_eq!(silent_and_gone(&world, YEAR).await, (0, 0), "and once only");
    assert_eq!(world.in_flight().await, 0);
}

#[tokio::test]
async fn a_slot_that_goes_on_beating_is_never_freed() {
    let world = in_flight(1).await;
    world.execute("DELETE FROM fairgate.delta; TRUNCATE graphile_worker._private_jobs CASCADE").await;
    world.execute("UPDATE fairgate.in_flight SET beat_at = clock_timestamp() + interval '1 year'").await;
    assert_eq!(silent_and_gone(&world, YEAR).await, (0, 0), "although the queue has lost its job");
}

#[tokio::test]
async fn a_slot_that_never_beat_is_freed_an_hour_on_if_the_queue_has_lost_its_job() {
    for started in [false, true] {
        let world = in_flight(3).await;
        if started {
            world.execute("UPDATE fairgate.in_flight SET started_at = clock_timestamp()").await;
        }
        world.execute("TRUNCATE graphile_worker._private_jobs CASCADE").await;
        assert_eq!(world.in_flight().await, 3, "TRUNCATE fires no row trigger");
        assert_eq!(silent_and_gone(&world, 59 * MINUTE).await, (0, 0));
        assert_eq!(silent_and_gone(&world, 61 * MINUTE).await, (0, 3));
    }
}

#[tokio::test]
async fn a_slot_that_never_beat_is_never_freed_while_its_job_waits_or_runs() {
    let world = in_flight(3).await;
    world
        .execute(
            "UPDATE graphile_worker._private_jobs SET run_at = now() + interval '10 years', attempts = 3 WHERE id = (SELECT min(id) FROM graphile_worker._private_jobs);
             UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'w', attempts = max_attempts
              WHERE id = (SELECT max(id) FROM graphile_worker._private_jobs)",
        )
        .await;
    assert_eq!(
        silent_and_gone(&world, YEAR).await,
        (0, 0),
        "one waits, one waits for its next attempt, one is in its last"
    );
    assert_eq!(world.in_flight().await, 3);
}

#[tokio::test]
async fn a_job_that_died_unseen_counts_as_lost() {
    let world = in_flight(1).await;
    world.execute("ALTER TABLE graphile_worker._private_jobs DISABLE TRIGGER USER").await;
    world.execute("UPDATE graphile_worker._private_jobs SET attempts = max_attempts").await;
    assert_eq!(silent_and_gone(&world, 2 * HOUR).await, (0, 1));
}

#[tokio::test]
async fn another_job_under_the_same_queue_id_does_not_hold_the_slot() {
    let world = in_flight(1).await;
    world
        .execute(
            "CREATE TEMP TABLE kept AS SELECT * FROM graphile_worker._private_jobs;
             TRUNCATE graphile_worker._private_jobs CASCADE;
             INSERT INTO graphile_worker._private_jobs (id, task_id) OVERRIDING SYSTEM VALUE SELECT id, task_id FROM kept",
        )
        .await;
    assert_eq!(silent_and_gone(&world, 2 * HOUR).await, (0, 1));
}

#[tokio::test]
async fn a_slot_whose_row_is_locked_is_left_to_who_holds_it() {
    let world = in_flight(1).await;
    world.execute("TRUNCATE graphile_worker._private_jobs CASCADE").await;
    let mut beating = world.db.connect().await;
    let mut beat = beating.begin().await.unwrap();
    sqlx::query("UPDATE fairgate.in_flight SET beat_at = clock_timestamp()")
        .execute(&mut *beat)
        .await
        .unwrap();
    assert_eq!(silent_and_gone(&world, 2 * HOUR).await, (0, 0));
    beat.rollback().await.unwrap();
    assert_eq!(silent_and_gone(&world, 2 * HOUR).await, (0, 1));
}

#[tokio::test]
async fn a_slot_that_begins_to_beat_while_the_queue_is_asked_about_its_job_is_kept() {
    let world = in_flight(2).await;
    let asked: Vec<uuid::Uuid> = sqlx::query_scalar("SELECT admission_id FROM fairgate.in_flight")
        .fetch_all(world.pool())
        .await
        .unwrap();
    sqlx::query("SELECT fairgate.heartbeat($1)").bind(asked[0]).execute(world.pool()).await.unwrap();
    let free = include_str!("../../queries/sweep/free_gone.sql");
    let freed: i64 = sqlx::query_scalar(free).bind(&asked).fetch_one(world.pool()).await.unwrap();
    assert_eq!((freed, world.in_flight().await), (1, 1));
    world.audit().await;
}

#[tokio::test]
async fn a_freed_slot_is_given_again() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    world.stage("p", "a", 5).await;
    assert_eq!(world.settle().await, 2);
    world.execute("TRUNCATE graphile_worker._private_jobs CASCADE").await;
    assert_eq!(silent_and_gone(&world, 2 * HOUR).await, (0, 2));
    assert_eq!(world.settle().await, 2);
    world.audit().await;
}

#[tokio::test]
async fn sweepers_go_through_all_slots_however_many_live_ones_come_first() {
    let mut world =
        World::with(vec![open("p")], Settings { admission_batch_size: 3_000, ..Settings::default() }).await;
    world.stage("p", "a", 2_500).await;
    world.settle().await;
    world.stage("p", "b", 1).await;
    world.settle().await;
    world.execute("ALTER TABLE graphile_worker._private_jobs DISABLE TRIGGER USER").await;
    assert_eq!(world.complete("b", 1).await, 1);
    let then = world.after_ms(2 * HOUR).await;
    let mut conn = world.conn().await;
    let (mut one, mut other) = (Sweeper::default(), Sweeper::default());
    let settings = Settings::default();
    let first = one.run(&mut conn, &settings, Some(then)).await.unwrap();
    let second = other.run(&mut conn, &settings, Some(then)).await.unwrap();
    assert_eq!((first.gone, second.gone), (1, 0), "two sweepers free it once");
    drop(conn);
    assert_eq!(world.in_flight().await, 2_500);
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_is_removed_by_hand_frees_its_slot_at_once() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 3).await;
    world.settle().await;
    world.execute("DELETE FROM graphile_worker._private_jobs").await;
    assert_eq!(world.in_flight().await, 0);
    assert_eq!(world.settle().await, 1);
    world.execute("SELECT graphile_worker.permanently_fail_jobs(array_agg(id), 'dropped by hand') FROM graphile_worker._private_jobs").await;
    assert_eq!(world.in_flight().await, 0, "dead, though its row stays in the queue");
    assert_eq!(world.settle().await, 1);
    world.audit().await;
}

#[tokio::test]
async fn old_samples_are_removed_and_lost_tickers_forgotten() {
    let world = in_flight(1).await;
    let old = "INSERT INTO fairgate.ticker (id, serves, seen_at) VALUES (gen_random_uuid(), 'x', now() - interval '3 minutes'),
                 (gen_random_uuid(), 'x', now())";
    world.execute(old).await;
    let settings = Settings { metrics_retention: Duration::from_secs(3600), ..Settings::default() };
    assert_eq!(world.sweep_at(&settings, None).await.samples, 0);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.ticker").await, 1);
    let then = world.after_ms(HOUR + 1_000).await;
    assert_eq!(world.sweep_at(&settings, then).await.samples, 1);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.tick_samples").await, 0);
}
