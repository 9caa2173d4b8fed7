//! What `explain` answers, for every place that a job can be in.

use std::time::Duration;

use fairgate::observe::{
    Event, JobExplanation, PartitionExplanation, StagedJob, explain_job, explain_partition,
};
use fairgate::operate::{OperateError, pause, pause_partition, set_enabled};
use fairgate::{JobId, PartitionKey};

use crate::world::{World, capped, job, name, open, policy};

fn key(text: &str) -> PartitionKey {
    text.parse().expect("a key")
}

async fn explain(world: &World, id: JobId) -> JobExplanation {
    explain_job(&mut *world.conn().await, &[], id, None).await.expect("explained")
}

async fn staged(world: &World, id: JobId) -> StagedJob {
    match explain(world, id).await {
        JobExplanation::Staged(job) => *job,
        other => panic!("{other:?}"),
    }
}

async fn partition(world: &World, partition: &str) -> PartitionExplanation {
    explain_partition(&mut *world.conn().await, &[], &name("p"), &key(partition), None)
        .await
        .expect("explained")
}

fn events(job: &StagedJob) -> Vec<Event> {
    job.holds.iter().map(|hold| hold.event).filter(|&event| event != Event::Ticker).collect()
}

#[tokio::test]
async fn a_full_gate_is_named_with_used_and_limit_and_those_who_hold_the_slots() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    let ids = world.stage("p", "t", 5).await;
    assert_eq!(world.settle().await, 2);
    let told = staged(&world, ids[4].job_id).await;
    assert_eq!((told.earliest, told.ahead, events(&told)), (None, 2, vec![Event::Finish]));
    assert_eq!(told.holds[0].why, "gate concurrency: all slots in use, 2 of 2 used");
    let holders: Vec<_> = told.partition.slots.iter().map(|slot| slot.job_id).collect();
    assert_eq!(holders, [ids[0].job_id, ids[1].job_id]);
    world.complete("t", 1).await;
    let told = staged(&world, ids[2].job_id).await;
    assert!(told.earliest.is_some(), "a report that waits counts: {told:?}");
    assert_eq!((told.ahead, events(&told)), (0, vec![]));
    assert_eq!(partition(&world, "t").await.gates[0].allows, 1);
}

#[tokio::test]
async fn every_switch_that_holds_a_job_is_named() {
    let world = World::new(vec![open("p")]).await;
    let id = world.stage("p", "t", 1).await[0].job_id;
    let told = staged(&world, id).await;
    assert!(told.earliest.is_some() && told.holds.iter().all(|hold| hold.event == Event::Ticker), "{told:?}");
    let mut conn = world.db.connect().await;
    pause(&mut conn, &name("p")).await.unwrap();
    pause_partition(&mut conn, &name("p"), &key("t")).await.unwrap();
    set_enabled(&mut conn, false).await.unwrap();
    world
        .execute("UPDATE fairgate.queue SET ready = false, not_ready_reason = 'it sleeps'; UPDATE fairgate.policy SET retired = true")
        .await;
    let told = staged(&world, id).await;
    assert_eq!(told.earliest, None);
    let named = [Event::Apply, Event::Enable, Event::Resume, Event::Resume, Event::QueueReady];
    assert_eq!(events(&told), named);
}

#[tokio::test]
async fn a_scheduled_job_waits_for_its_time_and_a_rate_of_zero_for_a_newer_context() {
    let p = policy("p")
        .throttle(|t| t.rate_from("rate", 1.0).per(Duration::from_secs(1)))
        .build()
        .expect("a policy");
    let mut world = World::new(vec![p]).await;
    let run_at = world.after_ms(3_600_000).await;
    let id = world.stage_jobs("p", &[job("t").run_at(run_at)]).await[0].job_id;
    let told = staged(&world, id).await;
    assert_eq!((told.earliest, events(&told)), (Some(run_at), vec![Event::RunAt]));
    assert_eq!(partition(&world, "t").await.earliest, Some(run_at));
    let id = world.stage_with("p", "u", serde_json::json!({ "rate": 0 })).await.job_id;
    assert_eq!(world.settle().await, 0);
    let told = staged(&world, id).await;
    assert_eq!((told.earliest, events(&told)), (None, vec![Event::ContextChange]));
}

#[tokio::test]
async fn a_job_in_flight_quarantined_or_gone_is_said_and_an_unknown_partition_refused() {
    let mut world = World::new(vec![open("p")]).await;
    let ids = world.stage("p", "t", 2).await;
    assert_eq!(world.settle().await, 2);
    let told = explain(&world, ids[0].job_id).await;
    assert!(matches!(&told, JobExplanation::InFlight(job) if job.slot.job_id == ids[0].job_id), "{told:?}");
    world.complete("t", 2).await;
    assert!(matches!(explain(&world, ids[0].job_id).await, JobExplanation::Gone { .. }));
    let set_aside = format!(
        "INSERT INTO fairgate.quarantined (job_id, partition_id, policy_id, partition_key, priority, staged_at, task, payload, context, forward_attempts, error,
                quarantined_at) SELECT '{}', id, policy_id, key, 0, now(), 'work', '1', '{{}}', 5, 'no', now() FROM fairgate.partition",
        ids[1].job_id
    );
    world.execute(&set_aside).await;
    let told = explain(&world, ids[1].job_id).await;
    assert!(matches!(&told, JobExplanation::Quarantined(job) if job.error == "no"), "{told:?}");
    let idle = partition(&world, "t").await;
    assert_eq!((idle.earliest, idle.pending, idle.in_flight), (None, 0, 0));
    let mut conn = world.conn().await;
    let error = explain_partition(&mut conn, &[], &name("p"), &key("nobody"), None).await.unwrap_err();
    assert!(matches!(error, OperateError::UnknownPartition { .. }), "{error}");
}

#[tokio::test]
async fn gates_that_need_a_missing_closure_are_judged_by_the_program_that_has_it() {
    let own = policy("p").concurrency(|c| c.max_fn(|_| 1.0)).build().expect("a policy");
    let mut world = World::new(vec![own.clone()]).await;
    let ids = world.stage("p", "t", 2).await;
    assert_eq!(world.settle().await, 1);
    assert_eq!(events(&staged(&world, ids[1].job_id).await), [Event::Program]);
    let told = explain_job(&mut *world.conn().await, &[own], ids[1].job_id, None).await.expect("explained");
    assert!(matches!(told, JobExplanation::Staged(job) if events(&job) == [Event::Finish]));
}

#[tokio::test]
async fn a_full_queue_a_shadow_gate_and_lessons_that_wait_are_told() {
    let learning = policy("p")
        .adaptive_concurrency(|a| a.initial_max(1.0).target_lag_ms(3_600_000.0))
        .concurrency(|c| c.named("tried").max(0.0).shadow(true))
        .build()
        .unwrap();
    let mut world = World::new(vec![learning]).await;
    world.execute("UPDATE fairgate.queue SET max_waiting = 1").await;
    world.stage("p", "a", 3).await;
    assert_eq!(world.settle().await, 1);
    let partition: fairgate::PartitionKey = "a".to_owned().try_into().unwrap();
    let told = async |world: &World| {
        let mut conn = world.conn().await;
        fairgate::observe::explain_partition(&mut conn, &[], &crate::world::name("p"), &partition, None)
            .await
            .unwrap()
    };
    let why = |told: &fairgate::observe::PartitionExplanation| {
        told.holds.iter().map(|hold| hold.why.clone()).collect::<Vec<_>>().join("; ")
    };
    let full = told(&world).await;
    assert!(
        why(&full).contains("queue \"main\" holds 1 jobs that no worker has begun, its limit is 1"),
        "{full:?}"
    );
    assert_eq!(
        full.gates.iter().map(|gate| (gate.gate.as_str(), gate.shadow)).collect::<Vec<_>>(),
        [("adaptive_concurrency", false), ("tried", true)]
    );
    assert!(!why(&full).contains("tried"), "a shadow gate holds nobody: {full:?}");
    // The job ran: what it taught is not folded in yet, and counts all the same.
    world.execute("UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = 1; DELETE FROM graphile_worker._private_jobs").await;
    let after = told(&world).await;
    assert_eq!(after.gates[0].allows, 2, "{after:?}");
    assert!(after.earliest.is_some());
}
