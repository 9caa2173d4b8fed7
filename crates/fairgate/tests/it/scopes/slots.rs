//! Slots of scopes, given back.

use fairgate::track::End;
use fairgate::{AdmissionId, NewJob, Settings};
use serde_json::json;

use super::{job, per_account};
use crate::world::World;

/// An endpoint that belongs now to this account, now to that one.
fn roaming(account: &str) -> NewJob {
    NewJob::new("work").context(&json!({ "tenant": "roamer", "account": account })).expect("a context")
}

#[tokio::test]
async fn a_finish_frees_the_scope_that_the_admission_held_wherever_its_partition_is_now() {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    world.stage_jobs("p", &[roaming("a")]).await;
    assert_eq!(world.drain_into_slots().await, 1);
    world.stage_jobs("p", &[roaming("b")]).await;
    world.stage_account("p", "a", 1, 1).await;
    assert_eq!(world.drain_into_slots().await, 1, "account b has a slot, account a has none");
    let held = "SELECT string_agg(key || in_flight, ' ' ORDER BY key) FROM fairgate.scope";
    assert_eq!(world.text(held).await, "a1 b1");
    world.complete_any(1).await;
    assert_eq!(world.drain_into_slots().await, 1, "the slot of account a");
    assert_eq!(world.in_flight_of("a").await, 1);
}

#[tokio::test]
async fn a_partition_that_waits_for_one_account_and_moves_to_another_waits_no_longer() {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    world.stage_account("p", "a", 1, 1).await;
    assert_eq!(world.drain_into_slots().await, 1);
    world.stage_jobs("p", &[roaming("a")]).await;
    assert_eq!(world.drain_into_slots().await, 0);
    world.stage_jobs("p", &[roaming("b")]).await;
    assert_eq!(world.drain_into_slots().await, 1);
    let moving: Vec<NewJob> =
        (0..60).map(|n| job(&format!("m{}", n % 6), ["a", "b", "c"][n % 5 % 3])).collect();
    let mut done = 2;
    for jobs in moving.chunks(4) {
        world.stage_jobs("p", jobs).await;
        world.complete_any(2).await;
        done += world.drain_into_slots().await;
    }
    for _ in 0..80 {
        world.complete_any(2).await;
        done += world.drain_into_slots().await;
    }
    assert_eq!(done, 63);
}

#[tokio::test]
async fn the_sweep_frees_the_slots_of_scopes() {
    let mut world = World::new(vec![per_account("p", 2.0)]).await;
    world.stage_account("p", "a", 5, 1).await;
    assert_eq!(world.drain_into_slots().await, 2);
    let one: uuid::Uuid = sqlx::query_scalar("SELECT admission_id FROM fairgate.in_flight LIMIT 1")
        .fetch_one(world.pool())
        .await
        .expect("a slot");
    fairgate::track::heartbeat(&mut *world.conn().await, AdmissionId::from(one)).await.expect("a beat");
    world.execute("ALTER TABLE graphile_worker._private_jobs DISABLE TRIGGER USER").await;
    world.complete_any(2).await;
    world.execute("ALTER TABLE graphile_worker._private_jobs ENABLE TRIGGER USER").await;
    let later = world.after_ms(3_700_000).await;
    let swept = world.sweep_at(&Settings::default(), later).await;
    assert_eq!((swept.silent, swept.gone), (1, 1));
    assert_eq!(world.drain_into_slots().await, 2);
}

#[tokio::test]
async fn an_attempt_that_fails_gives_its_slot_back_and_waits_like_everybody() {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    world.stage_account("p", "a", 2, 1).await;
    assert_eq!(world.drain_into_slots().await, 1);
    // A worker takes it, fails, and the queue would try again at once.
    world.execute("UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'w', attempts = attempts + 1").await;
    world.execute("UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL, last_error = 'no', run_at = now()").await;
    assert_eq!(world.queue_length().await, 0, "restaged");
    assert_eq!(world.drain_into_slots().await, 1);
    assert_eq!(world.in_flight_of("a").await, 1);
}

#[tokio::test]
async fn finishing_twice_frees_one_slot() {
    let mut world = World::new(vec![per_account("p", 2.0)]).await;
    world.stage_account("p", "a", 5, 1).await;
    assert_eq!(world.drain_into_slots().await, 2);
    let one: uuid::Uuid = sqlx::query_scalar("SELECT admission_id FROM fairgate.in_flight LIMIT 1")
        .fetch_one(world.pool())
        .await
        .expect("a slot");
    for first in [true, false] {
        let freed =
            fairgate::track::finished(&mut *world.conn().await, AdmissionId::from(one), End::Success).await;
        assert_eq!(freed.expect("an answer"), first);
    }
    assert_eq!(world.drain_into_slots().await, 1);
}

#[tokio::test]
async fn the_audit_sees_a_scope_that_counts_wrong_and_one_that_forgot_who_waits() {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    world.stage_account("p", "a", 3, 1).await;
    assert_eq!(world.drain_into_slots().await, 1);
    world.execute("UPDATE fairgate.scope SET in_flight = in_flight + 1, waited = false, due_at = NULL").await;
    let wrong = fairgate::doctor::audit(&mut *world.conn().await).await.expect("an audit");
    let found: Vec<_> = wrong.iter().map(|w| (w.counter.as_str(), w.counted, w.rows)).collect();
    assert_eq!(found, [("scope_in_flight", 2, 1), ("scope_waiting", 0, 2)]);
}

#[tokio::test]
async fn an_idle_scope_is_removed_and_comes_back() {
    let mut world = World::new(vec![per_account("p", 2.0)]).await;
    world.stage_account("p", "a", 1, 1).await;
    assert_eq!(world.drain_into_slots().await, 1);
    let later = world.after_ms(90_000_000).await;
    assert_eq!(world.sweep_at(&Settings::default(), later).await.scopes, 0, "a job holds it");
    world.complete_any(1).await;
    world.drain_into_slots().await;
    let later = world.after_ms(90_000_000).await;
    assert_eq!(world.sweep_at(&Settings::default(), later).await.scopes, 1);
    world.stage_account("p", "a", 3, 1).await;
    assert_eq!(world.drain_into_slots().await, 2);
}
