//! Retries that go back through staging: the gates decide about them as about new jobs.

use fairgate::{Dedupe, DedupeUntil, NewJob, OnConflict, Policy};
use serde_json::json;

use crate::world::{World, bypassing, capped, job, policy};

/// A worker fetches every job whose time has come, and every attempt fails; the next is in an hour.
const FAIL: &str = "UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'w', attempts = attempts + 1 WHERE run_at <= now() AND attempts < max_attempts;
    UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL, last_error = 'boom', run_at = now() + interval '1 hour' WHERE locked_at IS NOT NULL";

fn restaging(max: f64) -> Policy {
    policy("p").concurrency(|c| c.max(max)).build().expect("a policy")
}

fn numbered(tenant: &str, n: i64) -> NewJob {
    job(tenant).payload(&json!({ "n": n })).expect("a payload")
}

const STAGED: &str = "SELECT json_build_array(job_id, partition_key, task, priority, attempts, max_attempts, queue_name, dedupe_key, last_error, ready, payload)::text FROM fairgate.staged ORDER BY job_id";

#[tokio::test]
async fn a_failed_attempt_waits_in_staging_with_everything_it_had_and_its_slot_is_free() {
    let mut world = World::new(vec![restaging(1.0)]).await;
    let one = numbered("a", 1).priority(3).max_attempts(5).queue_name("q").dedupe_key("k");
    let staged = fairgate::stage(&mut *world.conn().await, "p", &one).await.unwrap();
    let first = world.stage_jobs("p", &[numbered("a", 2).priority(4)]).await;
    assert_eq!(world.settle().await, 1);
    let admission = world.text("SELECT admission_id::text FROM fairgate.in_flight").await;
    world.execute(FAIL).await;
    assert_eq!((world.queue_length().await, world.in_flight().await), (0, 0));
    let expected = format!(
        "[\"{}\", \"a\", \"work\", 3, 1, 5, \"q\", \"k\", \"boom\", false, {{\"n\":1}}]",
        staged.job_id
    );
    assert_eq!(world.column(STAGED).await[0], expected);
    world.audit().await;
    // The slot goes to the next one meanwhile; the retry comes when its time and the gate let it, as a new admission with its attempts kept.
    assert_eq!(world.settle().await, 1);
    let now = world.after_ms(3_700_000).await;
    assert_eq!(world.admitted_at(now).await, 0, "the only slot is taken");
    world.complete("a", 1).await;
    assert_eq!(world.admitted_at(now).await, 1);
    let queued = "SELECT json_build_array(attempts, max_attempts, last_error, flags #>> '{fairgate,j}')::text FROM graphile_worker._private_jobs";
    assert_eq!(world.column(queued).await, [format!("[1, 5, \"boom\", \"{}\"]", staged.job_id)]);
    assert_ne!(world.text("SELECT admission_id::text FROM fairgate.in_flight").await, admission);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.dedupe").await, 1);
    assert_ne!(first[0].job_id, staged.job_id);
    world.audit().await;
}

#[tokio::test]
async fn the_last_attempts_failure_is_final_and_stays_with_the_queue() {
    let mut world = World::new(vec![restaging(1.0)]).await;
    world.stage_jobs("p", &[numbered("a", 1).max_attempts(2)]).await;
    assert_eq!(world.settle().await, 1);
    world.execute(FAIL).await;
    assert_eq!(world.admitted_at(world.after_ms(3_700_000).await).await, 1);
    world.execute("UPDATE graphile_worker._private_jobs SET run_at = now()").await;
    world.execute(FAIL).await;
    assert_eq!((world.queue_length().await, world.in_flight().await), (1, 0));
    assert_eq!(world.column(STAGED).await, [] as [&str; 0]);
    world.audit().await;
}

#[tokio::test]
async fn gate_denials_are_no_attempts() {
    let mut world = World::new(vec![restaging(0.0)]).await;
    world.stage("p", "a", 1).await;
    for _ in 0..3 {
        world.pass().await;
    }
    assert_eq!(world.number("SELECT attempts::bigint FROM fairgate.staged").await, 0);
}

#[tokio::test]
async fn a_worker_that_gives_a_job_back_unstarted_does_not_send_it_through_the_gates_again() {
    let mut world = World::new(vec![restaging(1.0)]).await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 1);
    world
        .execute("UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = attempts + 1")
        .await;
    world.execute("UPDATE graphile_worker._private_jobs SET locked_at = NULL, attempts = attempts - 1").await;
    assert_eq!((world.queue_length().await, world.in_flight().await), (1, 1));
    world.audit().await;
}

#[tokio::test]
async fn a_failure_whose_slot_was_swept_is_restaged_all_the_same() {
    let mut world = World::new(vec![restaging(1.0)]).await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 1);
    world.execute("SELECT fairgate.heartbeat(admission_id) FROM fairgate.in_flight").await;
    assert_eq!(
        world.sweep_at(&fairgate::Settings::default(), world.after_ms(7_200_000).await).await.silent,
        1
    );
    world.execute(FAIL).await;
    assert_eq!((world.queue_length().await, world.column(STAGED).await.len()), (0, 1));
    world.absorb().await;
    world.audit().await;
    assert_eq!(world.admitted_at(world.after_ms(3_700_000).await).await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_retry_is_exempt_from_max_pending_and_counts_for_others() {
    let mut world = World::new(vec![policy("p").max_pending(1).build().unwrap()]).await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 1);
    world.stage("p", "a", 1).await;
    world.execute(FAIL).await;
    assert_eq!(world.column(STAGED).await.len(), 2, "nothing refuses a retry");
    assert!(fairgate::stage(&mut *world.conn().await, "p", &job("a")).await.is_err());
    world.absorb().await;
    world.audit().await;
}

#[tokio::test]
async fn a_retry_whose_key_was_taken_meanwhile_goes_on_without_and_is_counted() {
    let dedupe = Dedupe { until: DedupeUntil::Admitted, on_conflict: OnConflict::Keep };
    let mut world = World::new(vec![policy("p").dedupe(dedupe).build().unwrap()]).await;
    world.stage_jobs("p", &[numbered("a", 1).dedupe_key("k")]).await;
    assert_eq!(world.settle().await, 1);
    world.stage_jobs("p", &[numbered("b", 2).dedupe_key("k")]).await;
    world.execute(FAIL).await;
    let keys = "SELECT (payload ->> 'n') || coalesce(dedupe_key, '-') FROM fairgate.staged ORDER BY 1";
    assert_eq!(world.column(keys).await, ["1-", "2k"]);
    assert_eq!(world.column("SELECT key FROM fairgate.lost_key").await, ["k"]);
    // Kept as long as the samples of ticks.
    world.sweep_at(&fairgate::Settings::default(), world.after_ms(90_000_000).await).await;
    assert_eq!(world.column("SELECT key FROM fairgate.lost_key").await, [] as [&str; 0]);
    // One whose key is still free takes it again.
    world
        .execute("DELETE FROM fairgate.staged; DELETE FROM fairgate.dedupe; DELETE FROM fairgate.delta")
        .await;
    let mut world = World::new(vec![policy("p").dedupe(dedupe).build().unwrap()]).await;
    world.stage_jobs("p", &[numbered("a", 1).dedupe_key("k")]).await;
    assert_eq!(world.settle().await, 1);
    world.execute(FAIL).await;
    let kept =
        fairgate::stage(&mut *world.conn().await, "p", &numbered("a", 3).dedupe_key("k")).await.unwrap();
    assert_eq!(kept.outcome.as_str(), "kept");
    world.audit().await;
}

#[tokio::test]
async fn a_paused_policy_holds_retries_and_a_cancelled_retry_is_gone() {
    let mut world = World::new(vec![restaging(5.0)]).await;
    let staged = world.stage("p", "a", 2).await;
    assert_eq!(world.settle().await, 2);
    fairgate::operate::pause(&mut *world.conn().await, &crate::world::name("p")).await.unwrap();
    world.execute(FAIL).await;
    assert_eq!(world.admitted_at(world.after_ms(3_700_000).await).await, 0);
    assert!(fairgate::cancel(&mut *world.conn().await, staged[0].job_id).await.unwrap());
    fairgate::operate::resume(&mut *world.conn().await, &crate::world::name("p")).await.unwrap();
    assert_eq!(world.admitted_at(world.after_ms(3_700_000).await).await, 1);
    world.audit().await;
}

#[tokio::test]
async fn while_disabled_retries_stay_with_the_queue() {
    let mut world = World::new(vec![restaging(5.0)]).await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 1);
    fairgate::operate::set_enabled(&mut *world.conn().await, false).await.unwrap();
    world.execute(FAIL).await;
    assert_eq!((world.queue_length().await, world.in_flight().await), (1, 1));
    world.audit().await;
}

#[tokio::test]
async fn a_dead_job_that_is_revived_with_the_queues_tools_becomes_a_new_admission() {
    for policy in [capped("p", 1.0), bypassing("p", 1.0)] {
        let mut world = World::new(vec![policy]).await;
        world.stage_jobs("p", &[numbered("a", 1).max_attempts(1), numbered("a", 2)]).await;
        assert_eq!(world.settle().await, 1);
        world.execute(FAIL).await;
        assert_eq!((world.queue_length().await, world.in_flight().await), (1, 0));
        assert_eq!(world.settle().await, 1, "the slot is free");
        let ids = "SELECT id FROM graphile_worker._private_jobs WHERE attempts >= max_attempts";
        world
            .execute(&format!("SELECT graphile_worker.reschedule_jobs(ARRAY({ids}), now(), NULL, 0, 3)"))
            .await;
        assert_eq!(world.queue_length().await, 1, "it went back through staging");
        assert_eq!(world.settle().await, 0, "where the gate holds it");
        world.complete("a", 1).await;
        assert_eq!(world.settle().await, 1);
        assert_eq!(world.text("SELECT payload ->> 'n' FROM graphile_worker._private_jobs").await, "1");
        world.audit().await;
    }
}
