//! Taking fairgate out of a database.

use fairgate::uninstall::{Jobs, UninstallError, is_installed, uninstall};

use crate::wait::{close_the_gate, gate_the_queue, open_the_gate, pid, until_it_waits, until_somebody_waits};
use crate::world::{World, capped, job, open};

const TRIGGERS: &str = "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'fairgate%'";

#[tokio::test]
async fn nothing_is_removed_while_jobs_are_staged_or_in_flight_unless_told_to() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "t", 2).await;
    world.settle().await;
    let triggers = world.number(TRIGGERS).await;
    assert!(triggers > 0);
    let mut conn = world.db.connect().await;
    let error = uninstall(&mut conn, &[], Jobs::Refuse).await.unwrap_err();
    assert!(
        matches!(error, UninstallError::Jobs(held) if (held.staged, held.in_flight) == (1, 1)),
        "{error}"
    );
    world.execute("DELETE FROM fairgate.staged").await;
    assert!(uninstall(&mut conn, &[], Jobs::Refuse).await.is_err(), "one is still in flight");
    assert!(is_installed(&mut conn).await.unwrap());
    assert_eq!(world.number(TRIGGERS).await, triggers);
}

#[tokio::test]
async fn drained_jobs_reach_the_queue_with_their_times_and_those_in_flight_run_on() {
    let mut world = World::new(vec![capped("p", 1.0), open("q")]).await;
    let run_at = world.after_ms(3_600_000).await;
    world.stage("p", "t", 3).await;
    world.settle().await;
    world.stage("q", "u", 2).await;
    world.stage_jobs("q", &[job("u").run_at(run_at)]).await;
    let held = uninstall(&mut world.db.connect().await, &[], Jobs::Drain).await.unwrap();
    assert_eq!((held.staged, held.in_flight), (5, 1));
    assert_eq!(world.number("SELECT count(*) FROM pg_namespace WHERE nspname = 'fairgate'").await, 0);
    assert_eq!(world.number(TRIGGERS).await, 0);
    assert_eq!(world.queue_length().await, 6);
    let later = format!("SELECT count(*) FROM graphile_worker._private_jobs WHERE run_at = '{run_at}'");
    assert_eq!(world.number(&later).await, 1);
    let run = "UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'w';
               UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL, last_error = 'x', attempts = attempts + 1;
               DELETE FROM graphile_worker._private_jobs";
    world.execute(run).await;
    assert_eq!(world.queue_length().await, 0);
}

#[tokio::test]
async fn dropped_jobs_are_gone_and_migrate_begins_anew() {
    let world = World::new(vec![open("p")]).await;
    world.stage("p", "t", 3).await;
    let mut conn = world.db.connect().await;
    uninstall(&mut conn, &[], Jobs::Drop).await.unwrap();
    assert!(!is_installed(&mut conn).await.unwrap());
    assert_eq!(world.queue_length().await, 0);
    fairgate::migrate(&mut conn).await.unwrap();
    assert!(fairgate::migrate::is_migrated(&mut conn).await.unwrap());
}

#[tokio::test]
async fn a_queue_that_is_not_ready_stops_a_drain_and_everything_stays() {
    let world = World::new(vec![open("p")]).await;
    world.stage("p", "t", 3).await;
    world.execute("UPDATE fairgate.queue SET ready = false, not_ready_reason = 'it sleeps'").await;
    let triggers = world.number(TRIGGERS).await;
    let error = uninstall(&mut world.db.connect().await, &[], Jobs::Drain).await.unwrap_err();
    assert!(error.to_string().ends_with("it sleeps"), "{error}");
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 3);
    assert_eq!(world.number(TRIGGERS).await, triggers);
}

#[tokio::test]
async fn an_uninstall_waits_for_the_tick_that_has_begun_and_loses_none_of_its_jobs() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    gate_the_queue(world.pool()).await;
    let mut gate = world.db.connect().await;
    close_the_gate(&mut gate).await;
    world.stage("p", "t", 3).await;
    let pool = world.pool().clone();
    let (db, ticker) = (&world.db, &mut world.ticker);
    let mut conn = db.connect().await;
    let remove = async {
        until_somebody_waits(&pool).await;
        let mut operator = db.connect().await;
        let operating = pid(&mut operator).await;
        let done = tokio::spawn(async move { uninstall(&mut operator, &[], Jobs::Drain).await });
        until_it_waits(&pool, operating).await;
        open_the_gate(&mut gate).await;
        done.await.expect("no panic").expect("removed")
    };
    let (pass, held) = tokio::join!(ticker.pass(&mut conn, None, None), remove);
    // What the pass does after its tick may find no schema any more.
    drop(pass);
    assert_eq!((held.staged, held.in_flight), (2, 1));
    assert_eq!(world.queue_length().await, 3);
}
