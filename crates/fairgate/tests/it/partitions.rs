//! Removing empty partitions that nothing has happened to, without losing a job or resetting a limit.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use fairgate::Settings;
use fairgate::sweep::{Sweeper, Swept};
use sqlx::Acquire;

use crate::doors::{DOORS, Draft};
use crate::wait::{until, until_sql};
use crate::world::{World, capped, job, open, policy, queued, ticker};

fn settings() -> Settings {
    Settings { partition_inactive_after: Duration::from_secs(3600), ..Settings::default() }
}

const PARTITIONS: &str =
    "SELECT count(*) FROM fairgate.partition p JOIN fairgate.partition_state s USING (id)";

/// A tenant that had one job, long ago. Returns the time that counts as now.
async fn idle(world: &mut World, tenant: &str) -> DateTime<Utc> {
    world.stage("p", tenant, 1).await;
    world.settle().await;
    world.complete(tenant, 1).await;
    world.absorb().await;
    world.after_ms(7_200_000).await
}

async fn sweep(world: &World, now: DateTime<Utc>) -> (u64, i64) {
    let Swept { marked, removed, .. } = world.sweep_at(&settings(), now).await;
    (marked, removed)
}

/// Sweeps until a marked partition is removed: transactions in other databases of the server can put that off, too.
async fn sweep_until_removed(world: &World, now: DateTime<Utc>) {
    until("a marked partition is removed", || async { sweep(world, now).await.1 == 1 }).await;
}

#[tokio::test]
async fn an_idle_partition_is_marked_then_removed_and_comes_back_with_its_next_job() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    let now = idle(&mut world, "a").await;
    assert_eq!(sweep(&world, now - TimeDelta::minutes(61)).await, (0, 0), "it may be quiet for an hour");
    assert_eq!(sweep(&world, now).await, (1, 0));
    sweep_until_removed(&world, now).await;
    assert_eq!(world.number("SELECT (SELECT count(*) FROM fairgate.partition) + (SELECT count(*) FROM fairgate.partition_state)").await, 0);
    assert_eq!(sweep(&world, now).await, (0, 0));

    world.stage("p", "a", 2).await;
    assert_eq!(world.settle().await, 1);
    world.complete("a", 1).await;
    assert_eq!(world.settle().await, 1);
    assert_eq!(world.number(PARTITIONS).await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_is_being_staged_at_the_moment_of_removal_is_not_lost() {
    for door in DOORS {
        for began_before_the_mark in [true, false] {
            let mut world = World::new(vec![open("p")]).await;
            let now = idle(&mut world, "a").await;
            let mut conn = world.db.connect().await;
            if !began_before_the_mark {
                assert_eq!(sweep(&world, now).await, (1, 0));
            }
            let mut staging = conn.begin().await.unwrap();
            door.stage(&mut staging, "p", &[Draft::of("a")]).await.unwrap();
            if began_before_the_mark {
                assert_eq!(sweep(&world, now).await, (1, 0));
                assert_eq!(
                    sweep(&world, now).await,
                    (0, 0),
                    "{door:?}: it waits for every older transaction"
                );
            } else {
                sweep_until_removed(&world, now).await;
            }
            staging.commit().await.unwrap();
            assert_eq!(sweep(&world, now).await, (0, 0), "{door:?}: its report is there now");
            assert_eq!(world.settle().await, 1, "{door:?}, {began_before_the_mark}");
            world.complete("a", 1).await;
            assert_eq!(queued(&mut *world.conn().await, "a").await, 0);
            world.audit().await;
        }
    }
}

#[tokio::test]
async fn an_older_transaction_that_stages_nothing_only_puts_the_removal_off() {
    let mut world = World::new(vec![open("p")]).await;
    let now = idle(&mut world, "a").await;
    let mut conn = world.db.connect().await;
    let mut older = conn.begin().await.unwrap();
    sqlx::query("SELECT pg_current_xact_id()").execute(&mut *older).await.unwrap();
    assert_eq!(sweep(&world, now).await, (1, 0));
    assert_eq!(sweep(&world, now).await, (0, 0));
    older.rollback().await.unwrap();
    sweep_until_removed(&world, now).await;
}

#[tokio::test]
async fn work_that_appears_after_the_mark_revives_the_partition() {
    let mut world = World::new(vec![open("p")]).await;
    let now = idle(&mut world, "a").await;
    assert_eq!(sweep(&world, now).await, (1, 0));
    world.stage("p", "a", 1).await;
    world.settle().await;
    world.complete("a", 1).await;
    world.absorb().await;
    assert_eq!(sweep(&world, now).await, (1, 0), "the old mark is gone, it starts anew");
    // Also work that was gone before any tick saw it.
    let staged = world.stage("p", "a", 1).await;
    fairgate::cancel(&mut *world.conn().await, staged[0].job_id).await.unwrap();
    world.absorb().await;
    assert_eq!(sweep(&world, now).await, (1, 0), "and anew");
    sweep_until_removed(&world, now).await;
}

#[tokio::test]
async fn a_throttles_debt_keeps_its_partition_until_it_is_paid() {
    let p = policy("p")
        .throttle(|t| t.rate(1.0).per(Duration::from_secs(3600)).burst(3.0))
        .build()
        .expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 3).await;
    assert_eq!(world.settle().await, 3);
    world.complete("a", 3).await;
    world.absorb().await;
    let hours = |hours: i64| TimeDelta::hours(hours);
    let now = world.after_ms(0).await;
    assert_eq!(sweep(&world, now + hours(2)).await, (0, 0), "two of three tokens are back");
    world.stage("p", "a", 1).await;
    assert_eq!(world.admitted_at(now + hours(2)).await, 1);
    world.stage("p", "a", 5).await;
    assert_eq!(world.admitted_at(now + hours(2)).await, 1, "the bucket was not refilled by a removal");
    world.execute("DELETE FROM fairgate.staged").await;
    world.execute("DELETE FROM graphile_worker._private_jobs; UPDATE fairgate.partition_state SET pending = 0, due_at = NULL").await;
    world.absorb().await;
    assert_eq!(sweep(&world, now + hours(4)).await, (0, 0));
    assert_eq!(sweep(&world, now + hours(6)).await, (1, 0), "full again: forgetting it changes nothing");
    sweep_until_removed(&world, now + hours(6)).await;
}

#[tokio::test]
async fn a_partition_with_a_running_waiting_scheduled_or_unreported_job_is_kept() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    let now = idle(&mut world, "finished").await;
    let later = now + TimeDelta::days(30);
    world.stage("p", "running", 1).await;
    world.stage("p", "running and waiting", 2).await;
    world.stage_jobs("p", &[job("scheduled").run_at(later)]).await;
    world.settle().await;
    world.execute("UPDATE fairgate.partition_state SET touched_at = touched_at - interval '3 hours'").await;
    assert_eq!(sweep(&world, now).await, (1, 0), "the finished one alone");
    sweep_until_removed(&world, now).await;
    // A finish that was not folded in yet counts as a running job.
    world.complete("running", 1).await;
    assert_eq!(sweep(&world, now).await, (0, 0));
    assert_eq!(sweep(&world, now).await, (0, 0));
    assert_eq!(world.number(PARTITIONS).await, 3);
    world.audit().await;
}

#[tokio::test]
async fn a_report_of_a_removed_partition_waits_for_the_job_that_brings_it_back() {
    let mut world = World::new(vec![open("p")]).await;
    let now = idle(&mut world, "a").await;
    sweep(&world, now).await;
    let id = world.text("SELECT id::text FROM fairgate.partition").await;
    sweep_until_removed(&world, now).await;
    world.execute(&format!("INSERT INTO fairgate.delta (partition_id) VALUES ('{id}')")).await;
    world.absorb().await;
    assert_eq!(world.number("SELECT count(*) FROM fairgate.delta").await, 1);
    world.stage("p", "b", 1).await;
    assert_eq!(world.settle().await, 1, "and holds nobody up");
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 1);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.delta").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sweepers_on_several_machines_at_once_remove_each_partition_once() {
    let mut world = World::new(vec![open("p")]).await;
    let jobs: Vec<_> = (0..400).map(|n| job(&format!("t{n}"))).collect();
    world.stage_jobs("p", &jobs).await;
    while world.settle().await > 0 {}
    world.execute("DELETE FROM graphile_worker._private_jobs").await;
    world.absorb().await;
    let now = world.after_ms(7_200_000).await;
    let mut sweepers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let pool = world.pool().clone();
        sweepers.spawn(async move {
            let (mut sweeper, mut removed) = (Sweeper::default(), 0);
            for _ in 0..6 {
                let mut conn = pool.acquire().await.expect("a connection");
                removed += sweeper.run(&mut conn, &settings(), Some(now)).await.expect("a sweep").removed;
            }
            removed
        });
    }
    let removed: i64 = sweepers.join_all().await.iter().sum();
    let left = world.number(PARTITIONS).await;
    assert_eq!(removed + left, 400);
    until("the rest is removed", || async {
        sweep(&world, now).await;
        world.number(PARTITIONS).await == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_job_is_lost_while_partitions_are_removed_as_soon_as_they_are_empty() {
    let world = World::new(vec![capped("p", 1.0)]).await;
    let hasty = Settings {
        partition_inactive_after: Duration::ZERO,
        sweep_every: Duration::from_millis(10),
        idle_pause: Duration::from_millis(1),
        ..Settings::default()
    };
    let (stop, _) = tokio::sync::broadcast::channel::<()>(1);
    let mut tickers = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let mut stopped = stop.subscribe();
        tickers.spawn(
            ticker(world.pool(), vec![], hasty.clone()).await.run(async move { _ = stopped.recv().await }),
        );
    }
    for n in 0..150 {
        world.stage("p", &format!("t{}", n % 3), 1).await;
        world.execute("DELETE FROM graphile_worker._private_jobs").await;
    }
    let done = "WITH ended AS (DELETE FROM graphile_worker._private_jobs RETURNING 1)
                SELECT NOT EXISTS (SELECT FROM fairgate.staged) AND NOT EXISTS (SELECT FROM fairgate.partition) AND (SELECT count(*) FROM ended) = 0";
    until_sql(world.pool(), done).await;
    stop.send(()).expect("they listen");
    while let Some(ended) = tickers.join_next().await {
        ended.expect("no panic").expect("a ticker that ran");
    }
    assert_eq!(world.number("SELECT sum(jobs_admitted) FROM fairgate.tick_samples").await, 150);
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
}
