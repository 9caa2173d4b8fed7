//! Limits of scopes that change.

use std::time::Duration;

use fairgate::{NewJob, Settings};
use serde_json::json;

use crate::world::{World, policy, ticker};

fn job(endpoint: &str, max: i64) -> NewJob {
    let context = json!({ "tenant": endpoint, "account": "a", "max": max });
    NewJob::new("work").context(&context).expect("a context")
}

async fn world() -> World {
    let hour = Duration::from_secs(3600);
    let p = policy("p").concurrency(|c| c.max_from("max", None).scope("account").full_backoff(hour));
    World::new(vec![p.build().expect("a policy")]).await
}

#[tokio::test]
async fn a_raised_limit_acts_from_the_next_enqueue_for_everybody_who_waits() {
    let mut world = world().await;
    let jobs: Vec<NewJob> = (0..10).map(|n| job(&format!("a-{n}"), 2)).collect();
    world.stage_jobs("p", &jobs).await;
    assert_eq!(world.drain_into_slots().await, 2);
    world.stage_jobs("p", &[job("a-new", 7)]).await;
    assert_eq!(world.drain_into_slots().await, 5, "seven, whoever raised it");
}

#[tokio::test]
async fn a_lowered_limit_drains() {
    let mut world = world().await;
    let jobs: Vec<NewJob> = (0..12).map(|n| job(&format!("a-{n}"), 6)).collect();
    world.stage_jobs("p", &jobs).await;
    assert_eq!(world.drain_into_slots().await, 6);
    world.stage_jobs("p", &[job("a-0", 3)]).await;
    for _ in 0..3 {
        world.complete_any(1).await;
        assert_eq!(world.drain_into_slots().await, 0);
    }
    world.complete_any(1).await;
    assert_eq!(world.drain_into_slots().await, 1);
}

#[tokio::test]
async fn where_partitions_disagree_the_newest_context_wins_even_if_it_says_what_was_said_before() {
    let mut world = world().await;
    world.stage_jobs("p", &[job("a-1", 1), job("a-1", 1), job("a-1", 1)]).await;
    assert_eq!(world.drain_into_slots().await, 1);
    world.stage_jobs("p", &[job("a-2", 5)]).await;
    world.stage_jobs("p", &[job("a-1", 1)]).await;
    assert_eq!(world.drain_into_slots().await, 0, "a-1 came last");
    world.stage_jobs("p", &[job("a-2", 5)]).await;
    assert_eq!(world.drain_into_slots().await, 4);
}

#[tokio::test]
async fn a_limit_that_cannot_be_read_holds_the_scope_until_a_context_has_one() {
    let mut world = world().await;
    world.stage_with("p", "a-1", json!({ "account": "a", "max": "many" })).await;
    assert_eq!(world.drain_into_slots().await, 0);
    assert_eq!(world.text("SELECT denial FROM fairgate.partitions").await, "bad_parameter");
    world.stage_jobs("p", &[job("a-2", 2)]).await;
    assert_eq!(world.drain_into_slots().await, 2);
}

#[tokio::test]
async fn other_gates_let_out_who_waits_for_one_that_is_gone() {
    let mut world = world().await;
    let jobs: Vec<NewJob> = (0..6).map(|n| job(&format!("a-{n}"), 1)).collect();
    world.stage_jobs("p", &jobs).await;
    assert_eq!(world.drain_into_slots().await, 1);
    let free = policy("p").build().expect("a policy");
    world.ticker = ticker(world.pool(), vec![free], Settings::default()).await;
    assert_eq!(world.drain_into_slots().await, 5);
    world.complete_any(6).await;
    assert_eq!(world.drain_into_slots().await, 0);
}

#[tokio::test]
async fn a_rate_that_is_no_longer_zero_lets_those_go_who_wait_although_nobody_else_asks() {
    let paced = policy("p")
        .throttle(|t| {
            t.scope("account").rate_from("rate", 1.0).per(std::time::Duration::from_secs(1)).burst(1.0)
        })
        .concurrency(|c| c.named("own").max(1.0))
        .build()
        .expect("a policy");
    let mut world = World::new(vec![paced]).await;
    let job = |endpoint: &str, rate: i32| {
        fairgate::NewJob::new("work")
            .context(&serde_json::json!({ "tenant": endpoint, "account": "a", "rate": rate }))
            .expect("a context")
    };
    let now = world.after_ms(1_000).await;
    world.stage_jobs("p", &[job("busy", 1)]).await;
    assert_eq!(world.admitted_at(now).await, 1);
    world.stage_jobs("p", &[job("waits", 0)]).await;
    assert_eq!(world.admitted_at(now).await, 0, "nothing goes at no rate");
    // The newest context is one whose own gate holds it: it asks no scope.
    world.stage_jobs("p", &[job("busy", 1)]).await;
    assert_eq!(world.admitted_at(now).await, 0);
    let mut went = 0;
    for seconds in 1..=3 {
        went += world.admitted_at(now + chrono::TimeDelta::seconds(seconds)).await;
    }
    assert_eq!(went, 1, "one token a second, and only one may go");
}
