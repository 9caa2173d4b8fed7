//! Throttle and concurrency through the database, over time.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use crate::world::{World, capped, policy};

const SECOND: Duration = Duration::from_secs(1);

fn seconds(seconds: f64) -> TimeDelta {
    TimeDelta::microseconds((seconds * 1e6) as i64)
}

#[tokio::test]
async fn a_throttle_gives_its_burst_then_its_rate_and_nothing_back() {
    let p = policy("p").throttle(|t| t.rate(2.0).per(SECOND).burst(5.0)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 40).await;
    let start = world.after_ms(1_000).await;
    assert_eq!(world.admitted_at(start).await, 5);
    world.complete("a", 5).await;
    let mut total = 5;
    for tenth in 1..=100 {
        total += world.admitted_at(start + seconds(f64::from(tenth) / 10.0)).await;
        assert!(total <= 5 + 2 * tenth as u64 / 10, "{total} jobs within {tenth} tenths of a second");
        world.complete("a", 9).await;
    }
    assert_eq!(total, 25, "and no less, since somebody looked all the time");
    assert_eq!(world.text("SELECT denial FROM fairgate.partitions").await, "rate_limited");
    world.audit().await;
}

#[tokio::test]
async fn fractional_rates_are_exact_over_time() {
    let p = policy("p").throttle(|t| t.rate(1.0).per(Duration::from_secs(3))).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 50).await;
    let start = world.after_ms(1_000).await;
    let mut total = world.admitted_at(start).await;
    for second in 1..=60 {
        total += world.admitted_at(start + seconds(f64::from(second))).await;
        assert_eq!(total, 1 + second as u64 / 3, "after {second} s");
    }
}

#[tokio::test]
async fn a_throttle_is_charged_for_what_was_taken_not_for_what_it_allowed() {
    let p = policy("p")
        .throttle(|t| t.rate(1.0).per(Duration::from_secs(3600)).burst(10.0))
        .concurrency(|c| c.max(3.0));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    let now = world.after_ms(1_000).await;
    world.stage("p", "a", 2).await;
    assert_eq!(world.admitted_at(now).await, 2, "two were there");
    world.stage("p", "a", 20).await;
    assert_eq!(world.admitted_at(now).await, 1, "the cap had one place");
    let mut rest = 0;
    for _ in 0..10 {
        world.complete("a", 3).await;
        rest += world.admitted_at(now).await;
    }
    assert_eq!(rest, 7, "the tokens that were not charged are there still, and no more");
    world.audit().await;
}

#[tokio::test]
async fn tokens_held_are_kept_when_the_rate_changes_and_a_long_wait_is_not_waited_out() {
    let p = policy("p").throttle(|t| t.rate_from("rate", None).per(Duration::from_secs(3600)).burst(4.0));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    let now = world.after_ms(1_000).await;
    for _ in 0..9 {
        world.stage_with("p", "a", json!({ "rate": 1 })).await;
    }
    assert_eq!(world.admitted_at(now).await, 4);
    assert_eq!(world.admitted_at(now + seconds(1.0)).await, 0);
    // From one an hour to one a second: the next is due in a second, not in an hour.
    world.stage_with("p", "a", json!({ "rate": 3600 })).await;
    assert_eq!(world.admitted_at(now + seconds(1.0)).await, 0);
    assert_eq!(world.admitted_at(now + seconds(2.1)).await, 1);
    assert_eq!(world.admitted_at(now + seconds(4.1)).await, 2);
}

#[tokio::test]
async fn a_rate_of_zero_denies_and_is_looked_at_after_one_per() {
    let p = policy("p").throttle(|t| t.rate_from("rate", None).per(SECOND * 10)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage_with("p", "a", json!({ "rate": 0 })).await;
    let now = world.after_ms(1_000).await;
    assert_eq!(world.admitted_at(now).await, 0);
    assert_eq!(world.text("SELECT denial FROM fairgate.partitions").await, "rate_zero");
    assert_eq!(world.pass_at(now + seconds(9.9)).await.lanes, 0);
    assert_eq!(world.pass_at(now + seconds(10.0)).await.lanes, 1);
    world.stage_with("p", "a", json!({ "rate": 5 })).await;
    assert_eq!(
        world.admitted_at(now + seconds(10.1)).await,
        1,
        "the new rate acts at once, on the one token held"
    );
}

#[tokio::test]
async fn a_full_partition_is_looked_at_after_full_backoff_at_the_latest() {
    let p = policy("p").concurrency(|c| c.max(1.0).full_backoff(SECOND * 7)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 3).await;
    let now = world.after_ms(1_000).await;
    assert_eq!(world.admitted_at(now).await, 1);
    let due = |at: DateTime<Utc>| format!("SELECT (due_at = '{at}')::text FROM fairgate.partitions");
    assert_eq!(world.text(&due(now + seconds(7.0))).await, "true");
    assert_eq!(world.pass_at(now + seconds(6.9)).await.lanes, 0);
    let again = world.pass_at(now + seconds(7.0)).await;
    assert_eq!((again.lanes, again.ticks.jobs_admitted), (1, 0));
    assert_eq!(world.text(&due(now + seconds(14.0))).await, "true");
    assert_eq!(world.text("SELECT denial FROM fairgate.partitions").await, "concurrency_full");
}

#[tokio::test]
async fn a_full_partition_is_looked_at_as_soon_as_a_job_finishes() {
    let p = policy("p").concurrency(|c| c.max(1.0).full_backoff(SECOND * 3600)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 3).await;
    let now = world.after_ms(1_000).await;
    assert_eq!(world.admitted_at(now).await, 1);
    assert_eq!(world.admitted_at(now).await, 0);
    world.complete("a", 1).await;
    assert_eq!(world.admitted_at(now + seconds(0.001)).await, 1);
    world.audit().await;
}

#[tokio::test]
async fn raising_a_cap_by_context_acts_at_the_next_tick_and_lowering_it_drains() {
    let p = policy("p")
        .concurrency(|c| c.max_from("max", None).full_backoff(SECOND * 3600))
        .build()
        .expect("a policy");
    let mut world = World::new(vec![p]).await;
    let now = world.after_ms(1_000).await;
    for _ in 0..12 {
        world.stage_with("p", "a", json!({ "max": 2 })).await;
    }
    assert_eq!(world.admitted_at(now).await, 2);
    world.stage_with("p", "a", json!({ "max": 5 })).await;
    assert_eq!(world.admitted_at(now).await, 3);
    world.stage_with("p", "a", json!({ "max": 1 })).await;
    for left in [4, 3, 2, 1] {
        world.complete("a", 1).await;
        assert_eq!(world.admitted_at(now).await, 0, "{left} in flight");
    }
    world.complete("a", 1).await;
    assert_eq!(world.admitted_at(now).await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_policys_answer_is_the_smallest_allowance_of_its_gates() {
    let per_minute = |name: &'static str, burst: f64| {
        move |t: fairgate_core::policy::ThrottleBuilder| t.named(name).rate(1.0).per(SECOND * 60).burst(burst)
    };
    let p = policy("p")
        .throttle(per_minute("wide", 9.0))
        .concurrency(|c| c.max(4.0))
        .throttle(per_minute("narrow", 6.0));
    let mut world = World::new(vec![p.build().expect("a policy"), capped("other", 1.0)]).await;
    world.stage("p", "a", 20).await;
    let now = world.after_ms(1_000).await;
    assert_eq!(world.admitted_at(now).await, 4, "the cap");
    world.complete("a", 4).await;
    assert_eq!(
        world.admitted_at(now).await,
        2,
        "the narrow throttle: six in all, each gate with a state of its own"
    );
    world.complete("a", 2).await;
    assert_eq!(world.admitted_at(now).await, 0);
    assert_eq!(world.admitted_at(now + seconds(60.0)).await, 1);
}
