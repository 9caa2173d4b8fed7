//! Failures, deaths, lost workers.

use fairgate::queue::Event;

use super::Protocol;
use super::world::{World, job};

/// With its payload, its attempts, its error where the queue keeps it, and the queue's back-off.
pub async fn a_failed_attempt_goes_back_into_staging_and_through_the_gates(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    if !world.shows(Event::Failed) {
        return;
    }
    let staged = world.stage(&[job(7).max_attempts(2).priority(1)]).await;
    assert_eq!(world.admit().await, 1);
    let fetched = world.fetched().await;
    world.does(world.protocol.fail, &fetched).await;
    assert_eq!((world.queued().await.len(), world.in_flight().await, world.staged().await), (0, 0, 1));
    assert_eq!(world.number("SELECT count(*) FROM fairgate.ticket").await, 0);
    world.audit().await;
    let back = "SELECT json_build_array(job_id, task, payload ->> 'n', priority, attempts, max_attempts)::text FROM fairgate.staged";
    assert_eq!(world.texts(back).await, [format!(r#"["{}", "work", "7", 1, 1, 2]"#, staged[0].job_id)]);
    if world.protocol.keeps_errors {
        let error = "SELECT last_error FROM fairgate.staged";
        assert!(world.texts(error).await[0].contains("failed on purpose"), "the error is lost");
    }
    if world.protocol.backs_off {
        let later = "SELECT count(*) FROM fairgate.staged WHERE run_at > now() AND NOT ready";
        assert_eq!(world.number(later).await, 1, "the queue's back-off is lost");
        world.execute("UPDATE fairgate.staged SET ready_at = now(), run_at = now()").await;
    }
    assert_eq!(world.admit().await, 1);
    let again = world.fetched().await;
    assert_eq!(again.payload, fetched.payload);
    world.does(world.protocol.die, &again).await;
    assert_eq!((world.in_flight().await, world.staged().await), (0, 0), "the last attempt was the second");
    assert_eq!(world.queued().await.len(), 0);
    world.audit().await;
}

/// A job that waits for its next attempt in the queue is one that waits, not one that runs.
pub async fn with_bypass_the_queue_retries_and_the_slot_is_held(protocol: Protocol) {
    let mut world = World::bypassing(protocol).await;
    world.admitted(1).await;
    let fetched = world.fetched().await;
    world.does(world.protocol.fail, &fetched).await;
    assert_eq!((world.in_flight().await, world.staged().await), (1, 0));
    if world.shows(Event::Failed) {
        assert_eq!(world.started().await, 0);
    }
    assert_eq!(world.queued().await.len(), 1);
    world.audit().await;
    world.execute(world.protocol.ripen).await;
    let again = world.fetched().await;
    assert_eq!(again.payload, fetched.payload);
    world.does(world.protocol.succeed, &again).await;
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
}

/// Its row may stay in the queue; the slot does not.
pub async fn a_dead_job_frees_its_slot_and_a_revived_one_passes_the_gates_again(protocol: Protocol) {
    let mut world = World::bypassing(protocol).await;
    if !world.shows(Event::Dead) {
        return;
    }
    let staged = world.stage(&[job(1).max_attempts(1)]).await;
    assert_eq!(world.admit().await, 1);
    let fetched = world.fetched().await;
    world.does(world.protocol.die, &fetched).await;
    assert_eq!((world.in_flight().await, world.queued().await.len()), (0, 0));
    world.audit().await;
    let Some(revive) = world.protocol.revive else { return };
    world.does(revive, &fetched).await;
    let back = "SELECT job_id::text FROM fairgate.staged";
    assert_eq!(world.texts(back).await, [staged[0].job_id.to_string()]);
    assert_eq!(world.queued().await.len(), 0);
    world.execute("UPDATE fairgate.staged SET ready_at = now(), run_at = now()").await;
    assert_eq!(world.admit().await, 1);
    let again = world.fetched().await;
    world.does(world.protocol.succeed, &again).await;
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
}

/// No slot is freed while the job may still run, and none twice.
pub async fn a_lost_worker_is_replaced_by_the_queues_own_rescue(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(1).await;
    let lost = world.fetched().await;
    world.sweep().await;
    assert_eq!(world.in_flight().await, 1, "nobody knows yet");
    world.execute(world.protocol.vanish).await;
    world.execute(world.protocol.rescue).await;
    world.execute("UPDATE fairgate.staged SET ready_at = now(), run_at = now()").await;
    world.admit().await;
    assert_eq!(world.in_flight().await, 1, "it is held once, by this admission or a new one");
    world.execute(world.protocol.ripen).await;
    let again = world.fetched().await;
    assert_eq!(again.payload, lost.payload);
    world.does(world.protocol.succeed, &again).await;
    assert_eq!((world.in_flight().await, world.staged().await), (0, 0));
    world.audit().await;
}
