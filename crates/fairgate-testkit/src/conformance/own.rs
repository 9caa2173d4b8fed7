//! What only some queues have.

use fairgate::NewJob;
use serde_json::json;

use super::Protocol;
use super::world::{World, job};

fn elsewhere() -> NewJob {
    let job = NewJob::new("nowhere").payload(&json!({ "n": 1 }));
    job.and_then(|job| job.context(&json!({ "tenant": "u" }))).expect("plain values")
}

/// Where queues must be made beforehand: the queue's own words say what is missing, and other jobs go on.
pub async fn a_job_for_a_queue_that_is_not_there_is_set_aside_alone(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.stage(&[elsewhere(), job(1)]).await;
    for hours in 0..10 {
        world.pass_after(hours).await;
    }
    assert_eq!((world.queued().await.len(), world.in_flight().await), (1, 1));
    let told = world.texts("SELECT task || ': ' || error FROM fairgate.quarantined").await;
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("nowhere: "), "{told:?}");
    world.audit().await;
}

/// Where queues have tables of their own: one that is made later has our triggers from its first job on.
pub async fn a_queue_that_is_made_later_is_hooked_with_its_first_job(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.execute("SELECT pgmq.create('later')").await;
    world.stage(&[job(1).queue_name("later")]).await;
    assert_eq!(world.admit().await, 1);
    world.execute("SELECT * FROM pgmq.read('later', 30, 1)").await;
    assert_eq!(world.started().await, 1);
    world.execute("SELECT pgmq.delete('later', 1)").await;
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
}

/// Deleting and archiving in batches is one statement for many jobs.
pub async fn messages_that_are_ended_together_free_their_slots(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    world.execute("SELECT * FROM pgmq.read('work', 30, 2)").await;
    assert_eq!(world.started().await, 2);
    world.execute("SELECT pgmq.archive('work', (SELECT array_agg(msg_id) FROM pgmq.q_work))").await;
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
}

/// Without a new revision of its policies.
pub async fn a_changed_description_is_taken_up_by_a_running_ticker(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(1).await;
    let mut settings = world.queue().settings();
    settings["columns"]["tags"] = json!("ARRAY['changed']");
    let queue = fairgate::queue::adapter("table", Some("public"), &settings).expect("an adapter");
    world.reconfigure(queue.into()).await;
    world.stage(&[job(2)]).await;
    assert_eq!(world.admit().await, 1);
    let tags = "SELECT array_to_string(tags, ',') FROM river_job ORDER BY id";
    assert_eq!(world.texts(tags).await, ["", "changed"]);
    for _ in 0..2 {
        let fetched = world.fetched().await;
        world.does(world.protocol.succeed, &fetched).await;
    }
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
}

/// A ticket outlives a week only with its slot.
pub async fn an_old_ticket_goes_and_that_of_a_job_in_flight_stays(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    let tickets = "SELECT count(*) FROM fairgate.ticket";
    world.execute("UPDATE fairgate.ticket SET made_at = now() - interval '8 days'").await;
    world.sweep().await;
    assert_eq!(world.number(tickets).await, 2);
    let fetched = world.fetched().await;
    world.does(world.protocol.die, &fetched).await;
    assert_eq!(world.number(tickets).await, 2, "a dead job may be revived");
    world.sweep().await;
    assert_eq!(world.number(tickets).await, 1);
}

/// And not before; a rollback frees nothing.
pub async fn a_worker_that_ends_many_jobs_in_one_transaction_frees_them_at_its_commit(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    let (first, second) = (world.fetched().await, world.fetched().await);
    let mut conn = world.conn().await;
    let both = format!(
        "BEGIN; {}; {}",
        super::world::filled(world.protocol.succeed, &first.id),
        super::world::filled(world.protocol.succeed, &second.id)
    );
    super::world::run(&mut conn, &both).await.expect("ended");
    assert_eq!(world.in_flight().await, 2, "not yet");
    super::world::run(&mut conn, "ROLLBACK").await.expect("rolled back");
    assert_eq!(world.in_flight().await, 2, "they run on");
    super::world::run(&mut conn, &both).await.expect("ended");
    super::world::run(&mut conn, "COMMIT").await.expect("committed");
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
}
