//! From the queue's worker back to us.

use fairgate::queue::Event;

use super::Protocol;
use super::world::World;

/// Lag is measured from the admission to the first start.
pub async fn a_start_is_seen_with_its_lag_and_a_success_frees_the_slot(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    let fetched = world.fetched().await;
    let shown = i64::from(world.shows(Event::Started));
    assert_eq!(world.started().await, shown);
    let lag = "SELECT count(*) FROM fairgate.in_flight WHERE lag_ms >= 0 AND NOT waiting AND started_at >= admitted_at";
    assert_eq!(world.number(lag).await, shown);
    world.does(world.protocol.succeed, &fetched).await;
    assert_eq!(world.in_flight().await, 1, "its slot alone is free");
    world.audit().await;
    let fetched = world.fetched().await;
    world.does(world.protocol.succeed, &fetched).await;
    assert_eq!((world.in_flight().await, world.number("SELECT count(*) FROM fairgate.ticket").await), (0, 0));
    world.audit().await;
}

/// A late end, a purge and a sweep after the end free nothing more.
pub async fn a_slot_is_freed_once_whatever_comes_after(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(1).await;
    let fetched = world.fetched().await;
    world.does(world.protocol.succeed, &fetched).await;
    let again = super::world::filled(world.protocol.succeed, &fetched.id);
    // Some queues raise at a second end, others take no notice.
    let _ = super::world::run(&mut world.conn().await, &again).await;
    world.execute(world.protocol.purge).await;
    world.sweep().await;
    assert_eq!(world.number("SELECT coalesce(sum(released), 0)::bigint FROM fairgate.delta").await, 1);
    world.audit().await;
    world.admitted(2).await;
}

/// By hand one by one, and all at once.
pub async fn a_job_that_is_removed_or_purged_frees_its_slot(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    let first = world.queued().await.remove(0);
    let removed = super::world::Fetched { id: first, payload: serde_json::Value::Null };
    world.does(world.protocol.remove, &removed).await;
    assert_eq!((world.queued().await.len(), world.in_flight().await), (1, 1));
    world.audit().await;
    world.execute(world.protocol.purge).await;
    assert_eq!(world.queued().await.len(), 0);
    // A purge that empties the table fires no row's trigger.
    world.sweep().await;
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
    world.admitted(2).await;
}

/// The sweep asks the queue: a job that waits or runs keeps its slot.
pub async fn a_job_that_nobody_told_us_of_is_found_by_the_sweep(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.admitted(2).await;
    let running = world.fetched().await;
    world.sweep().await;
    assert_eq!(world.in_flight().await, 2, "one runs, one waits");
    fairgate::registry::uninstall_hooks(&mut world.conn().await, world.queue()).await.expect("unhooked");
    world.does(world.protocol.succeed, &running).await;
    assert_eq!(world.in_flight().await, 2, "nobody told us");
    world.sweep().await;
    assert_eq!(world.in_flight().await, 1, "the one that waits");
    world.audit().await;
}

/// Its whole life changes nothing here, and ours nothing of its row.
pub async fn a_job_of_somebody_else_is_left_alone(protocol: Protocol) {
    let mut world = World::new(protocol).await;
    world.execute(world.protocol.foreign).await;
    let theirs = world.queued().await;
    let before = world.texts(world.protocol.rows).await;
    world.admitted(2).await;
    let after = world.texts(world.protocol.rows).await;
    assert!(before.iter().all(|row| after.contains(row)), "{before:?} is not in {after:?}");
    let slots = world
        .texts("SELECT json_agg(f ORDER BY f)::text FROM (SELECT admission_id FROM fairgate.in_flight) f")
        .await;
    let deltas = world.number("SELECT count(*) FROM fairgate.delta").await;
    // By id: the queue's own order may put ours first.
    let mut lives = 0;
    while let Some(fetched) = world.fetch().await {
        if theirs.contains(&fetched.id) {
            world.does(world.protocol.fail, &fetched).await;
            world.execute(world.protocol.ripen).await;
            lives += 1;
            if lives == 2 {
                world.does(world.protocol.succeed, &fetched).await;
                break;
            }
        }
    }
    assert!(lives > 0, "their job was never fetched");
    assert_eq!(world.number("SELECT count(*) FROM fairgate.delta").await, deltas);
    assert_eq!(
        world
            .texts("SELECT json_agg(f ORDER BY f)::text FROM (SELECT admission_id FROM fairgate.in_flight) f")
            .await,
        slots
    );
    world.audit().await;
}
