//! From staging into the queue.

use fairgate::queue::Event;
use fairgate::{Policy, registry::ApplyError};
use serde_json::{Value, json};
use sqlx::Connection;

use super::Protocol;
use super::world::{World, job, policy, run};

/// A batch is in the queue when the tick has committed, and not before.
pub async fn a_batch_is_handed_over_by_the_ticks_commit(protocol: Protocol) {
    let mut world = World::with(protocol, Policy::builder("p").queue("main").partition_by("tenant")).await;
    world.stage(&[job(1), job(2), job(3)]).await;
    let mut watcher = world.conn().await;
    let mut gate = world.conn().await;
    let mut closed = gate.begin().await.expect("begun");
    // A tick's last statement before its commit writes its sample: there it waits.
    run(&mut closed, "LOCK fairgate.tick_sample IN ACCESS EXCLUSIVE MODE").await.expect("locked");
    let waiting = world.protocol.waiting;
    let mut ticking = Box::pin(world.admit());
    let seen = tokio::select! {
        _ = &mut ticking => panic!("the tick went past a closed gate"),
        seen = async {
            let blocked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0";
            while sqlx::query_scalar::<_, i64>(blocked).fetch_one(&mut watcher).await.expect("a count") == 0 {
                tokio::task::yield_now().await;
            }
            sqlx::query_scalar::<_, String>(waiting).fetch_all(&mut watcher).await.expect("rows")
        } => seen,
    };
    assert_eq!(seen, [""; 0], "nothing is visible before the commit");
    closed.rollback().await.expect("opened");
    assert_eq!(ticking.await, 3);
    assert_eq!((world.queued().await.len(), world.in_flight().await, world.staged().await), (3, 3, 0));
    world.audit().await;
}

/// Whatever fails the tick takes the queue's rows back too.
pub async fn a_tick_that_fails_leaves_nothing_in_the_queue(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.stage(&[job(1), job(2)]).await;
    let tickets = "SELECT count(*) FROM fairgate.ticket";
    world.execute("ALTER TABLE fairgate.tick_sample ADD CONSTRAINT none CHECK (false) NOT VALID").await;
    let _ = world.pass().await;
    assert_eq!((world.queued().await.len(), world.in_flight().await, world.staged().await), (0, 0, 2));
    assert_eq!(world.number(tickets).await, 0);
    world.execute("ALTER TABLE fairgate.tick_sample DROP CONSTRAINT none").await;
    assert_eq!(world.admit().await, 2);
    assert_eq!((world.queued().await.len(), world.in_flight().await, world.staged().await), (2, 2, 0));
    world.audit().await;
}

/// From the admission to the queue's row and back.
pub async fn a_job_and_its_row_in_the_queue_name_each_other(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    for fetched in [world.fetched().await, world.fetched().await] {
        let admission = world.texts(&world.protocol.admission.replace("{id}", &fetched.id)).await;
        let slot = "SELECT queue_job_id || ' ' || job_id FROM fairgate.in_flight WHERE admission_id = ";
        let slot = world.texts(&format!("{slot}'{}'", admission[0])).await;
        let (queue_job, ours) = slot[0].split_once(' ').expect("two words");
        assert!(
            queue_job == fetched.id || queue_job == ours,
            "{queue_job} is neither {} nor our id",
            fetched.id
        );
    }
}

/// In the order of the priorities, least first, however the queue counts them.
pub async fn payloads_priorities_and_names_arrive_as_they_were_staged(protocol: Protocol) {
    let open = Policy::builder("p").queue("main").partition_by("tenant");
    let mut world = World::with(protocol, open).await;
    let deep = json!({ "text": "é\"\\ \u{1F600}", "list": [1, -2.5, null, true], "n": 4 });
    let jobs =
        [job(2).priority(2), job(1).priority(1), job(3).priority(3), job(4).payload(&deep).expect("JSON")];
    world.stage(&jobs).await;
    assert_eq!(world.admit().await, 4);
    let mut seen: Vec<Value> = Vec::new();
    while let Some(fetched) = world.fetch().await {
        seen.push(fetched.payload.clone());
        world.does(world.protocol.succeed, &fetched).await;
    }
    assert_eq!(seen, [deep, json!({ "n": 1 }), json!({ "n": 2 }), json!({ "n": 3 })]);
    assert_eq!(world.in_flight().await, 0);
}

/// Such a job has no slot, and its end is no news to us.
pub async fn jobs_go_straight_to_the_queue_while_disabled(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.execute("UPDATE fairgate.engine SET enabled = false").await;
    world.stage(&[job(1), job(2), job(3)]).await;
    assert_eq!((world.staged().await, world.queued().await.len()), (0, 3));
    for _ in 0..3 {
        let fetched = world.fetched().await;
        world.does(world.protocol.succeed, &fetched).await;
    }
    assert_eq!((world.in_flight().await, world.number("SELECT count(*) FROM fairgate.ticket").await), (0, 0));
    assert_eq!(world.admit().await, 0);
    world.audit().await;
}

/// `apply` says which policy, which setting, which event and which queue.
pub async fn a_policy_that_needs_what_the_queue_cannot_show_is_refused(protocol: Protocol) {
    let world = World::new(protocol).await;
    let needs = [
        (Event::Failed, policy().retry(fairgate::Retry::Restage)),
        (Event::Started, policy().adaptive_concurrency(|gate| gate.initial_max(3.0).target_lag_ms(100.0))),
    ];
    for (event, policy) in needs {
        let applied = world.apply(&[policy.build().expect("a policy")]).await;
        match applied {
            Ok(_) => assert!(world.shows(event), "{event:?} is not shown, and the policy was taken"),
            Err(ApplyError::QueueCannotShow { event: named, .. }) => {
                assert!(!world.shows(event));
                assert_eq!(named, event.as_str());
            }
            Err(error) => panic!("{error}"),
        }
    }
}
