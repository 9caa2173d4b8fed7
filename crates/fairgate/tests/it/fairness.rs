//! Who is served first within a tick, and how a budget is shared.

use std::time::Duration;

use chrono::TimeDelta;
use fairgate::Settings;
use fairgate_core::definition::HalfLife;

use crate::world::{World, open, policy, queued};

async fn recent(world: &World, tenant: &str) -> f64 {
    let sql = "SELECT recent FROM fairgate.partitions WHERE key = $1";
    sqlx::query_scalar(sql).bind(tenant).fetch_one(world.pool()).await.expect("a number")
}

#[tokio::test]
async fn recent_activity_is_written_with_the_admission_and_halves_per_half_life() {
    let mut world = World::new(vec![open("p")]).await;
    world.stage("p", "a", 8).await;
    let now = world.after_ms(1_000).await;
    world.admitted_at(now).await;
    assert_eq!(recent(&world, "a").await, 8.0);
    world.stage("p", "a", 1).await;
    world.admitted_at(now + TimeDelta::seconds(60)).await;
    assert!((recent(&world, "a").await - 5.0).abs() < 1e-9, "half of eight, and one");
    world.stage("p", "a", 1).await;
    world.admitted_at(now + TimeDelta::days(366)).await;
    assert_eq!(recent(&world, "a").await, 1.0, "a year on nothing is left of it");
    world.audit().await;
}

#[tokio::test]
async fn the_claimed_partitions_are_served_by_recent_activity_lowest_first() {
    let mut world =
        World::with(vec![open("p")], Settings { tick_admission_budget: Some(3), ..Settings::default() })
            .await;
    // b has had one job, a two, c none.
    for (tenant, jobs) in [("a", 2), ("b", 1)] {
        world.stage("p", tenant, jobs).await;
        world.settle().await;
    }
    world.execute("DELETE FROM graphile_worker._private_jobs").await;
    for tenant in ["a", "b", "c"] {
        world.stage("p", tenant, 5).await;
    }
    assert_eq!(world.pass().await.ticks.jobs_admitted, 3);
    let order = "SELECT flags #>> '{fairgate,p}' FROM graphile_worker._private_jobs ORDER BY id";
    assert_eq!(world.column(order).await, ["c", "b", "a"]);
}

#[tokio::test]
async fn without_a_half_life_the_claimed_partitions_are_served_in_claim_order() {
    let settings = Settings { tick_admission_budget: Some(2), ..Settings::default() };
    let p = policy("p").fairness_half_life(HalfLife::None).build().expect("a policy");
    let mut world = World::with(vec![p], settings).await;
    world.stage("p", "busy", 50).await;
    world.settle().await;
    world.execute("DELETE FROM graphile_worker._private_jobs").await;
    world.stage("p", "busy", 5).await;
    world.absorb().await;
    world.stage("p", "idle", 5).await;
    world.absorb().await;
    world.execute("UPDATE fairgate.partition_state SET due_at = now() - CASE WHEN admitted > 0 THEN interval '2 s' ELSE interval '1 s' END").await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 2);
    let order = "SELECT flags #>> '{fairgate,p}' FROM graphile_worker._private_jobs ORDER BY id";
    assert_eq!(world.column(order).await, ["busy", "idle"]);
}

#[tokio::test]
async fn a_budget_is_offered_in_equal_parts_and_what_is_left_is_offered_again() {
    let mut world =
        World::with(vec![open("p")], Settings { tick_admission_budget: Some(30), ..Settings::default() })
            .await;
    for (tenant, jobs) in [("small", 2), ("large", 100), ("larger", 200)] {
        world.stage("p", tenant, jobs).await;
    }
    assert_eq!(world.pass().await.ticks.jobs_admitted, 30, "no budget is left while there is demand");
    let mut conn = world.conn().await;
    let (small, large, larger) = (
        queued(&mut conn, "small").await,
        queued(&mut conn, "large").await,
        queued(&mut conn, "larger").await,
    );
    assert_eq!((small, large, larger), (2, 14, 14));
}

#[tokio::test]
async fn a_budget_is_not_spent_on_what_the_gates_deny() {
    let settings = Settings { tick_admission_budget: Some(10), ..Settings::default() };
    let p = policy("p").concurrency(|c| c.max_from("max", 100.0)).build().expect("a policy");
    let mut world = World::with(vec![p], settings).await;
    for tenant in ["a", "b", "c"] {
        for _ in 0..20 {
            world
                .stage_with("p", tenant, serde_json::json!({ "max": if tenant == "c" { 100 } else { 1 } }))
                .await;
        }
    }
    assert_eq!(world.pass().await.ticks.jobs_admitted, 10);
    assert_eq!(queued(&mut *world.conn().await, "c").await, 8);
    world.audit().await;
}

#[tokio::test]
async fn those_that_the_budget_left_out_are_counted_and_served_first_at_their_next_look() {
    let settings = Settings { tick_admission_budget: Some(2), ..Settings::default() };
    let mut world = World::with(vec![open("p")], settings).await;
    let tenants = ["a", "b", "c", "d", "e"];
    for tenant in tenants {
        world.stage("p", tenant, 3).await;
    }
    let starved =
        "SELECT denials ->> 'tick_cap_exhausted' FROM fairgate.tick_samples ORDER BY id DESC LIMIT 1";
    let first = world.pass().await;
    assert_eq!((first.ticks.jobs_admitted, world.text(starved).await.as_str()), (2, "3"));
    let denied = "SELECT count(*) FROM fairgate.partitions WHERE denial = 'tick_cap_exhausted'";
    assert_eq!(world.number(denied).await, 3);
    // However active they have been.
    world.execute("UPDATE fairgate.partition_state SET recent = 1000 WHERE admitted = 0").await;
    let left_out = world.column("SELECT key FROM fairgate.partitions WHERE admitted = 0 ORDER BY key").await;
    world.pass().await;
    let served = "SELECT flags #>> '{fairgate,p}' FROM graphile_worker._private_jobs ORDER BY id";
    let served = world.column(served).await;
    assert_eq!(served.len(), 4);
    assert!(served[2..].iter().all(|tenant| left_out.contains(tenant)), "{served:?}, left out: {left_out:?}");
    assert_eq!(world.number(denied).await, 3, "one for the second time, and the two of the first tick");
}

#[tokio::test]
async fn what_is_admitted_is_the_smaller_of_offer_and_allowance() {
    let settings = Settings { admission_batch_size: 4, ..Settings::default() };
    let rate =
        |t: fairgate_core::policy::ThrottleBuilder| t.rate(1.0).per(Duration::from_secs(3600)).burst(6.0);
    let p = policy("p").throttle(rate).build().expect("a policy");
    let q = policy("q").throttle(rate).admission_batch_size(5).build().expect("a policy");
    let mut world = World::with(vec![p, q], settings).await;
    world.stage("p", "a", 20).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4, "the offer");
    assert_eq!(world.pass().await.ticks.jobs_admitted, 2, "the allowance");
    assert_eq!(world.settle().await, 0);
    assert_eq!(recent(&world, "a").await.round(), 6.0, "each in its own state");
    world.stage("q", "b", 20).await;
    assert_eq!(
        world.pass().await.ticks.jobs_admitted,
        5,
        "a policy's own batch size goes before the engine's"
    );
}
