//! Folding in what stagers, finishers and cancellers reported, and scheduled jobs that come due.

use fairgate::JobId;
use sqlx::Acquire;

use crate::world::{World, capped, job, open};

#[tokio::test]
async fn thousands_of_reports_of_a_locked_partition_do_not_hold_up_those_behind_them() {
    let mut world = World::new(vec![open("p")]).await;
    world.stage("p", "locked", 1).await;
    world.absorb().await;
    world.execute("INSERT INTO fairgate.delta (partition_id) SELECT id FROM fairgate.partition, generate_series(1, 12000)").await;
    let mut ticker = world.db.connect().await;
    let mut tick = ticker.begin().await.unwrap();
    sqlx::query("SELECT FROM fairgate.partition_state FOR NO KEY UPDATE").execute(&mut *tick).await.unwrap();

    world.stage("p", "behind", 2).await;
    assert_eq!(world.settle().await, 2);
    let left = "SELECT count(*) FROM fairgate.delta";
    assert_eq!(world.number(left).await, 12_000);
    tick.rollback().await.unwrap();
    assert_eq!(world.settle().await, 1);
    assert_eq!(world.number(left).await, 0);
    world.audit().await;
}

#[tokio::test]
async fn more_reports_than_one_call_takes_are_said_and_taken_by_the_next() {
    let world = World::new(vec![open("p")]).await;
    world.stage("p", "a", 1).await;
    world.absorb().await;
    world.execute("INSERT INTO fairgate.delta (partition_id) SELECT id FROM fairgate.partition, generate_series(1, 31000)").await;
    let mut conn = world.conn().await;
    let first = fairgate::absorb::absorb(&mut conn, None).await.unwrap();
    assert!(first.more && first.folded == 30_000, "{first:?}");
    let second = fairgate::absorb::absorb(&mut conn, None).await.unwrap();
    assert!(!second.more && second.folded == 1_000, "{second:?}");
}

#[tokio::test]
async fn a_job_is_never_admitted_before_its_run_at_and_at_it_it_is() {
    let mut world = World::new(vec![open("p")]).await;
    let run_at = world.after_ms(5_000).await;
    let ms = chrono::TimeDelta::milliseconds;
    let jobs = [job("a").run_at(run_at), job("a").run_at(run_at + ms(5)), job("b").run_at(run_at)];
    world.stage_jobs("p", &jobs).await;
    assert_eq!(world.settle().await, 0);
    assert_eq!(world.number("SELECT sum(future)::bigint FROM fairgate.partitions").await, 3);
    world.audit().await;
    let wait = world.pass_at(run_at - ms(1)).await;
    assert_eq!(
        (wait.ticks.jobs_admitted, wait.wait.as_millis()),
        (0, 1),
        "and says how long nothing can change"
    );
    assert_eq!(world.admitted_at(run_at).await, 2);
    assert_eq!(world.admitted_at(run_at + ms(4)).await, 0);
    assert_eq!(world.admitted_at(run_at + ms(5)).await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_run_at_that_has_passed_is_ready_at_once() {
    let mut world = World::new(vec![open("p")]).await;
    let past = world.after_ms(-60_000).await;
    world.stage_jobs("p", &[job("a").run_at(past)]).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 1);
    let early =
        "SELECT count(*) FROM graphile_worker._private_jobs WHERE run_at < now() - interval '30 seconds'";
    assert_eq!(world.number(early).await, 0, "in the queue it stands in the order of admission");
}

#[tokio::test]
async fn more_scheduled_jobs_than_one_call_promotes_all_go_the_oldest_first() {
    let world = World::new(vec![open("p")]).await;
    let at = world.after_ms(1_000).await;
    let ms = chrono::TimeDelta::milliseconds;
    let jobs: Vec<_> = (0..6_000).map(|n| job("a").run_at(at + ms(6_000 - n))).collect();
    world.stage_jobs("p", &jobs).await;
    let then = at + ms(10_000);
    let mut conn = world.conn().await;
    let done = fairgate::absorb::absorb(&mut conn, Some(then)).await.unwrap();
    assert!(done.more && done.promoted == 5_000, "{done:?}");
    let order = "SELECT count(*) FROM fairgate.staged a JOIN fairgate.staged b ON a.ready_at > b.ready_at
                  WHERE a.ready AND NOT b.ready AND b.ready_at = (SELECT min(ready_at) FROM fairgate.staged WHERE NOT ready)";
    assert_eq!(world.number(order).await, 0);
    assert_eq!(fairgate::absorb::absorb(&mut conn, Some(then)).await.unwrap().promoted, 1_000);
    world.audit().await;
}

/// A small random number generator, so that a failure comes again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

#[tokio::test]
async fn counters_equal_their_rows_whatever_happens_in_whatever_order() {
    let mut world = World::new(vec![capped("p", 3.0)]).await;
    let mut dice = Dice(7);
    let mut ids: Vec<JobId> = Vec::new();
    for round in 0..150 {
        let tenant = format!("t{}", dice.roll(4));
        match dice.roll(6) {
            0 => ids
                .extend(world.stage("p", &tenant, 1 + dice.roll(6) as usize).await.iter().map(|s| s.job_id)),
            1 => {
                let soon = world.after_ms(dice.roll(40) as i64 - 10).await;
                ids.extend(
                    world.stage_jobs("p", &[job(&tenant).run_at(soon)]).await.iter().map(|s| s.job_id),
                );
            }
            2 if !ids.is_empty() => {
                let job = ids[dice.roll(ids.len() as u64) as usize];
                fairgate::cancel(&mut *world.conn().await, job).await.unwrap();
            }
            3 => _ = world.complete(&tenant, 1 + dice.roll(3) as i64).await,
            4 => world.absorb().await,
            _ => _ = world.pass().await,
        }
        let wrong = fairgate::doctor::audit(&mut *world.conn().await).await.unwrap();
        assert_eq!(wrong, [], "after round {round}");
        let over = "SELECT count(*) FROM (SELECT FROM fairgate.in_flight GROUP BY partition_id HAVING count(*) > 3) x";
        assert_eq!(world.number(over).await, 0, "after round {round}");
    }
    assert!(
        world.number("SELECT sum(admitted)::bigint FROM fairgate.partitions").await > 20,
        "the dice fell well"
    );
}

#[tokio::test]
async fn the_audit_sees_a_counter_that_is_wrong_by_one() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 3).await;
    world.settle().await;
    for (counter, wrong) in [("pending", 3), ("future", 1), ("in_flight", 2)] {
        world.execute(&format!("UPDATE fairgate.partition_state SET {counter} = {counter} + 1")).await;
        let found = fairgate::doctor::audit(&mut *world.conn().await).await.unwrap();
        let found: Vec<_> = found.iter().map(|d| (d.counter.as_str(), d.counted, d.rows)).collect();
        assert_eq!(found, [(counter, wrong, wrong - 1)]);
        world.execute(&format!("UPDATE fairgate.partition_state SET {counter} = {counter} - 1")).await;
    }
    world.audit().await;
}

#[tokio::test]
async fn a_counter_that_somebody_made_too_small_stops_nobody() {
    let mut world = World::new(vec![open("p")]).await;
    world.stage("p", "a", 1).await;
    world.stage("p", "b", 1).await;
    assert_eq!(world.settle().await, 2);
    world.execute("UPDATE fairgate.partition_state SET in_flight = 0 WHERE id = (SELECT partition_id FROM fairgate.partitions WHERE key = 'a')").await;
    world.complete("a", 1).await;
    world.complete("b", 1).await;
    world.stage("p", "b", 1).await;
    assert_eq!(world.settle().await, 1);
    world.complete("b", 1).await;
    world.absorb().await;
    world.audit().await;
}
