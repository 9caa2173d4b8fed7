//! What a scope counts together, and with what else.

use std::time::Duration;

use fairgate::NewJob;
use serde_json::json;

use super::{job, per_account};
use crate::world::{World, policy};

#[tokio::test]
async fn one_cap_holds_over_all_endpoints_of_an_account() {
    let mut world = World::new(vec![per_account("p", 3.0)]).await;
    world.stage_account("p", "a", 10, 5).await;
    world.stage_account("p", "b", 2, 5).await;
    assert_eq!(world.drain_into_slots().await, 6);
    assert_eq!((world.in_flight_of("a").await, world.in_flight_of("b").await), (3, 3));
    let mut done = 6;
    for _ in 0..40 {
        world.complete_any(2).await;
        done += world.drain_into_slots().await;
        assert!(world.in_flight_of("a").await <= 3 && world.in_flight_of("b").await <= 3);
    }
    assert_eq!(done, 60, "everything went in the end");
}

#[tokio::test]
async fn the_in_flight_row_names_the_limit_and_the_scopes_it_holds() {
    let p = policy("p")
        .concurrency(|c| c.named("own").max(2.0))
        .concurrency(|c| c.named("account").max(7.0).scope("account"))
        .throttle(|t| t.named("pace").rate(50.0).per(Duration::from_secs(60)).scope("account"))
        .concurrency(|c| c.named("all").max(9.0).scope_policy());
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    world.stage_jobs("p", &[job("a-1", "a")]).await;
    assert_eq!(world.drain_into_slots().await, 1);
    assert_eq!(
        world.text("SELECT limits::text FROM fairgate.in_flight").await,
        r#"{"all": 9, "own": 2, "account": 7}"#
    );
    let names = "SELECT string_agg(s.gate || ':' || coalesce(s.key, '*'), ' ' ORDER BY t.n) FROM fairgate.in_flight f,
                        unnest(f.scopes) WITH ORDINALITY t (id, n) JOIN fairgate.scopes s ON s.scope_id = t.id";
    assert_eq!(world.text(names).await, "account:a all:*", "a throttle has no slots to give back");
    let same = "SELECT count(*) FROM fairgate.scope WHERE id = fairgate.scope_id(policy_id, kind, gate, key)";
    assert_eq!(world.number(same).await, 3, "the ids of the program are those of the database");
}

#[tokio::test]
async fn one_cap_over_the_policy_holds_across_shards() {
    let p = policy("p").shard_by("shard").concurrency(|c| c.max(4.0).scope_policy());
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    let jobs: Vec<NewJob> = (0..40)
        .map(|n| {
            let context = json!({ "tenant": format!("t{}", n % 8), "shard": format!("s{}", n % 4) });
            NewJob::new("work").context(&context).expect("a context")
        })
        .collect();
    world.stage_jobs("p", &jobs).await;
    assert_eq!(world.drain_into_slots().await, 4);
    let mut done = 4;
    for _ in 0..12 {
        world.complete_any(3).await;
        done += world.drain_into_slots().await;
        assert!(world.in_flight().await <= 4);
    }
    assert_eq!(done, 40);
}

#[tokio::test]
async fn a_policy_that_is_full_writes_nothing_and_says_when_to_look_again() {
    let p = policy("p").concurrency(|c| c.max(1.0).scope_policy());
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    world.stage("p", "a", 3).await;
    assert_eq!(world.settle().await, 1);
    let before = world.everything().await;
    let pass = world.pass().await;
    assert_eq!(world.everything().await, before);
    assert!(!pass.busy && pass.wait <= Duration::from_secs(1), "{pass:?}");
}

#[tokio::test]
async fn an_account_may_be_held_by_the_minute_and_by_the_hour() {
    let p = policy("p")
        .throttle(|t| t.named("minute").rate(10.0).per(Duration::from_secs(60)).scope("account"))
        .throttle(|t| t.named("hour").rate(25.0).per(Duration::from_secs(3600)).scope("account"));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    world.stage_account("p", "a", 10, 10).await;
    let start = world.after_ms(1_000).await;
    let mut by_minute = Vec::new();
    for minute in 0..4 {
        let mut admitted = 0;
        for step in 0..6 {
            let at = start + chrono::TimeDelta::milliseconds(minute * 60_000 + step * 100);
            admitted += world.admitted_at(at).await;
        }
        by_minute.push(admitted);
    }
    assert_eq!(by_minute, [10, 10, 5, 1], "25, and what the hour brought in three minutes");
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_one_gate_denies_holds_nothing_at_another() {
    let p = policy("p")
        .concurrency(|c| c.named("account").max(4.0).scope("account"))
        .throttle(|t| t.named("pace").rate(100.0).per(Duration::from_secs(3600)).scope("account"))
        .concurrency(|c| c.named("region").max(1.0).scope("region"));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    let jobs: Vec<NewJob> = (0..12)
        .map(|n| {
            let context =
                json!({ "tenant": format!("t{n}"), "account": "a", "region": format!("r{}", n % 2) });
            NewJob::new("work").context(&context).expect("a context")
        })
        .collect();
    world.stage_jobs("p", &jobs).await;
    assert_eq!(world.drain_into_slots().await, 2, "one for each region");
    assert_eq!(world.number("SELECT in_flight::bigint FROM fairgate.scope WHERE gate = 'account'").await, 2);
    assert_eq!(world.number("SELECT admitted FROM fairgate.scope WHERE gate = 'pace'").await, 2);
    let mut done = 2;
    for _ in 0..12 {
        world.complete_any(1).await;
        done += world.drain_into_slots().await;
    }
    assert_eq!(done, 12);
}

#[tokio::test]
async fn a_partition_whose_own_gates_hold_it_waits_for_no_scope() {
    let p = policy("p")
        .concurrency(|c| c.named("own").max(1.0))
        .concurrency(|c| c.named("account").max(100.0).scope("account"));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    world.stage_account("p", "a", 2, 3).await;
    assert_eq!(world.drain_into_slots().await, 2);
    let parked =
        "SELECT count(*) FROM fairgate.partition_state WHERE waiting_on IS NOT NULL OR due_at IS NULL";
    assert_eq!(world.number(parked).await, 0);
}

#[tokio::test]
async fn a_shadow_gate_of_a_scope_counts_and_lets_everything_go() {
    let p = policy("p").concurrency(|c| c.max(2.0).scope("account").shadow(true));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    world.stage_account("p", "a", 5, 1).await;
    assert_eq!(world.settle().await, 5);
    world.stage_account("p", "a", 5, 1).await;
    assert_eq!(world.settle().await, 5);
    assert_eq!(world.text("SELECT limits::text FROM fairgate.in_flight LIMIT 1").await, "{}");
    let counted = "SELECT count(*) FROM fairgate.tick_sample WHERE denials ? 'shadow:concurrency_full'";
    assert!(world.number(counted).await > 0);
    world.audit().await;
}

#[tokio::test]
async fn a_partition_that_does_not_say_its_account_is_denied_alone() {
    let mut world = World::new(vec![per_account("p", 3.0)]).await;
    world.stage("p", "nobody", 2).await;
    world.stage_jobs("p", &[job("a-1", "a")]).await;
    assert_eq!(world.drain_into_slots().await, 1);
    let denial = "SELECT denial FROM fairgate.partitions WHERE key = 'nobody'";
    assert_eq!(world.text(denial).await, "bad_scope");
}
