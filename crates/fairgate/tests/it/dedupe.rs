//! Dedupe keys: one job of a policy holds a key at a time, by whatever door it came.

use fairgate::{Dedupe, DedupeUntil, NewJob, OnConflict, Outcome, Policy};
use serde_json::json;

use crate::world::{World, bypassing, job, policy};

fn deduped(until: DedupeUntil, on_conflict: OnConflict) -> Policy {
    policy("p").dedupe(Dedupe { until, on_conflict }).build().expect("a policy")
}

fn keyed(tenant: &str, key: &str, n: i64) -> NewJob {
    job(tenant).dedupe_key(key).payload(&json!({ "n": n })).expect("a payload")
}

async fn stage(world: &World, job: &NewJob) -> (String, Outcome) {
    let staged = fairgate::stage(&mut *world.conn().await, "p", job).await.expect("staged");
    (staged.job_id.to_string(), staged.outcome)
}

async fn held(world: &World) -> Vec<String> {
    world.column("SELECT key || '=' || job_id FROM fairgate.dedupe ORDER BY key").await
}

async fn waiting(world: &World) -> Vec<String> {
    world
        .column("SELECT partition_key || ' ' || (payload ->> 'n') FROM fairgate.staged ORDER BY job_id")
        .await
}

#[tokio::test]
async fn a_key_is_held_until_the_queue_is_done_and_a_second_job_is_kept_out() {
    let mut world = World::new(vec![deduped(DedupeUntil::Finished, OnConflict::Keep)]).await;
    let (first, outcome) = stage(&world, &keyed("a", "k", 1)).await;
    assert_eq!(outcome, Outcome::Staged);
    assert_eq!(
        stage(&world, &keyed("b", "k", 2)).await,
        (first.clone(), Outcome::Kept),
        "another partition, the same policy"
    );
    assert_eq!(world.settle().await, 1);
    assert_eq!(stage(&world, &keyed("a", "k", 3)).await, (first.clone(), Outcome::Kept), "in flight");
    assert_eq!(world.complete("a", 1).await, 1);
    assert_eq!(held(&world).await, [] as [&str; 0]);
    let (second, outcome) = stage(&world, &keyed("a", "k", 4)).await;
    assert_eq!(outcome, Outcome::Staged);
    assert_ne!(first, second);
    assert_eq!(waiting(&world).await, ["a 4"]);
    // Without a key there is no deduplication.
    world.stage("p", "a", 3).await;
    assert_eq!(waiting(&world).await.len(), 4);
    world.audit().await;
}

#[tokio::test]
async fn a_key_that_is_held_until_admission_is_free_once_its_job_is_admitted() {
    let mut world = World::new(vec![deduped(DedupeUntil::Admitted, OnConflict::Keep)]).await;
    let (first, _) = stage(&world, &keyed("a", "k", 1)).await;
    assert_eq!(stage(&world, &keyed("a", "k", 2)).await, (first.clone(), Outcome::Kept));
    assert_eq!(world.settle().await, 1);
    let (second, outcome) = stage(&world, &keyed("a", "k", 3)).await;
    assert_eq!(outcome, Outcome::Staged);
    // The first one's end does not take the second one's key away.
    world.complete("a", 1).await;
    assert_eq!(held(&world).await, [format!("k={second}")]);
    assert_eq!(stage(&world, &keyed("a", "k", 4)).await, (second, Outcome::Kept));
    world.audit().await;
}

#[tokio::test]
async fn replace_acts_while_the_holder_is_staged_and_keeps_its_id() {
    let mut world = World::new(vec![deduped(DedupeUntil::Finished, OnConflict::Replace)]).await;
    let (first, _) = stage(&world, &keyed("a", "k", 1)).await;
    let later = keyed("b", "k", 2).run_at(world.after_ms(3_600_000).await);
    assert_eq!(stage(&world, &later).await, (first.clone(), Outcome::Replaced));
    assert_eq!(waiting(&world).await, ["b 2"]);
    world.audit().await;
    assert_eq!(world.settle().await, 0, "it is scheduled now");
    world.audit().await;
    assert_eq!(stage(&world, &keyed("a", "k", 3)).await, (first.clone(), Outcome::Replaced));
    assert_eq!(world.settle().await, 1);
    assert_eq!(stage(&world, &keyed("a", "k", 4)).await, (first, Outcome::Kept), "it is in flight");
    assert_eq!(world.text("SELECT payload ->> 'n' FROM graphile_worker._private_jobs").await, "3");
    world.audit().await;
}

#[tokio::test]
async fn a_replacement_does_not_wait_for_a_tick_that_has_the_job_in_hand() {
    let world = World::new(vec![deduped(DedupeUntil::Finished, OnConflict::Replace)]).await;
    let (first, _) = stage(&world, &keyed("a", "k", 1)).await;
    let mut other = world.db.connect().await;
    let mut tick = sqlx::Connection::begin(&mut other).await.unwrap();
    sqlx::query("DELETE FROM fairgate.staged").execute(&mut *tick).await.unwrap();
    assert_eq!(stage(&world, &keyed("a", "k", 2)).await, (first, Outcome::Kept));
    tick.rollback().await.unwrap();
    assert_eq!(waiting(&world).await, ["a 1"]);
}

#[tokio::test]
async fn in_bulk_the_first_of_a_key_counts_or_the_last_ones_content_and_the_answer_says_which() {
    for (on_conflict, outcomes, content) in [
        (OnConflict::Keep, ["kept", "staged", "kept", "staged", "kept"], ["a 0", "a 2", "a 4"]),
        (
            OnConflict::Replace,
            ["replaced", "staged", "replaced", "staged", "replaced"],
            ["a 1", "a 5", "a 4"],
        ),
    ] {
        let world = World::new(vec![deduped(DedupeUntil::Finished, on_conflict)]).await;
        let (old, _) = stage(&world, &keyed("a", "old", 0)).await;
        let jobs = [
            keyed("a", "old", 1),
            keyed("a", "new", 2),
            keyed("a", "new", 3),
            keyed("a", "z", 4),
            keyed("a", "new", 5),
        ];
        let staged = world.stage_jobs("p", &jobs).await;
        assert_eq!(staged.iter().map(|s| s.outcome.as_str()).collect::<Vec<_>>(), outcomes);
        let ids: Vec<String> = staged.iter().map(|s| s.job_id.to_string()).collect();
        assert_eq!(ids[0], old);
        assert_eq!((&ids[2], &ids[4]), (&ids[1], &ids[1]));
        assert_eq!(waiting(&world).await, content);
        assert_eq!(
            held(&world).await,
            [format!("new={}", ids[1]), format!("old={old}"), format!("z={}", ids[3])]
        );
        world.absorb().await;
        world.audit().await;
    }
}

#[tokio::test]
async fn two_bulk_calls_with_the_same_keys_in_opposite_orders_both_end() {
    let world = World::new(vec![deduped(DedupeUntil::Finished, OnConflict::Keep)]).await;
    let there: Vec<NewJob> = (0..300).map(|n| keyed("a", &format!("k{n}"), n)).collect();
    let back: Vec<NewJob> = there.iter().rev().cloned().collect();
    let (mut one, mut two) = (world.conn().await, world.conn().await);
    let (one, two) =
        tokio::join!(fairgate::stage_many(&mut one, "p", &there), fairgate::stage_many(&mut two, "p", &back));
    let (one, two) = (one.expect("no deadlock"), two.expect("no deadlock"));
    assert!(one.iter().zip(two.iter().rev()).all(|(a, b)| a.job_id == b.job_id), "one job for each key");
    assert_eq!(waiting(&world).await.len(), 300);
}

#[tokio::test]
async fn a_key_is_never_left_behind_by_a_job_that_is_gone() {
    let mut world = World::new(vec![bypassing("p", 9.0)]).await;
    let gone = |held: Vec<String>| assert_eq!(held, [] as [&str; 0]);
    // Cancelled.
    let staged = fairgate::stage(&mut *world.conn().await, "p", &keyed("a", "k", 1)).await.unwrap();
    assert!(fairgate::cancel(&mut *world.conn().await, staged.job_id).await.unwrap());
    gone(held(&world).await);
    // Its transaction rolled back.
    let mut conn = world.conn().await;
    let mut tx = sqlx::Connection::begin(&mut *conn).await.unwrap();
    fairgate::stage(&mut tx, "p", &keyed("a", "k", 2)).await.unwrap();
    tx.rollback().await.unwrap();
    drop(conn);
    gone(held(&world).await);
    // Dead, and removed by hand.
    for end in [
        "UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = max_attempts;
         UPDATE graphile_worker._private_jobs SET locked_at = NULL; DELETE FROM graphile_worker._private_jobs",
        "DELETE FROM graphile_worker._private_jobs",
    ] {
        stage(&world, &keyed("a", "k", 3)).await;
        assert_eq!(world.settle().await, 1);
        world.execute(end).await;
        gone(held(&world).await);
    }
    // Swept: the queue lost it while nobody looked.
    stage(&world, &keyed("a", "k", 4)).await;
    assert_eq!(world.settle().await, 1);
    world.execute("ALTER TABLE graphile_worker._private_jobs DISABLE TRIGGER ALL; DELETE FROM graphile_worker._private_jobs; ALTER TABLE graphile_worker._private_jobs ENABLE TRIGGER ALL").await;
    let swept = world.sweep_at(&fairgate::Settings::default(), world.after_ms(7_200_000).await).await;
    assert_eq!(swept.gone, 1);
    gone(held(&world).await);
    // Silent.
    stage(&world, &keyed("a", "k", 5)).await;
    assert_eq!(world.settle().await, 1);
    world.execute("SELECT fairgate.heartbeat(admission_id) FROM fairgate.in_flight").await;
    let swept = world.sweep_at(&fairgate::Settings::default(), world.after_ms(7_200_000).await).await;
    assert_eq!(swept.silent, 1);
    gone(held(&world).await);
    world.absorb().await;
    world.audit().await;
}
