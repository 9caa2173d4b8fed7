//! Start, beat and end of an admission, by its id: once is news, twice, late or unknown changes nothing.

use fairgate::AdmissionId;
use fairgate::track::{End, finished, heartbeat, started};
use sqlx::{Acquire, PgConnection};
use uuid::Uuid;

use crate::wait::{pid, until_it_waits};
use crate::world::{World, capped};

async fn admissions(world: &World) -> Vec<AdmissionId> {
    let ids = world.column("SELECT admission_id::text FROM fairgate.inflight ORDER BY admission_id").await;
    ids.iter().map(|id| AdmissionId::from_uuid(id.parse().expect("a uuid"))).collect()
}

async fn finished_in_sql(
    conn: &mut PgConnection,
    admission: AdmissionId,
    outcome: &str,
) -> sqlx::Result<bool> {
    let sql = "SELECT fairgate.finished($1, $2)";
    sqlx::query_scalar(sql).bind(admission.as_uuid()).bind(outcome).fetch_one(conn).await
}

#[tokio::test]
async fn finishing_twice_late_or_an_unknown_admission_changes_nothing() {
    let mut world = World::new(vec![capped("p", 3.0)]).await;
    world.stage("p", "a", 9).await;
    assert_eq!(world.settle().await, 3);
    let slots = admissions(&world).await;
    let mut conn = world.db.connect().await;
    for (slot, end) in [(slots[0], End::Success), (slots[1], End::Failed), (slots[2], End::Ignored)] {
        assert!(finished(&mut conn, slot, end).await.unwrap());
        assert!(!finished(&mut conn, slot, end).await.unwrap(), "twice, before it was folded in");
        world.absorb().await;
        assert!(!finished_in_sql(&mut conn, slot, "success").await.unwrap(), "twice, afterwards");
        assert!(!started(&mut conn, slot).await.unwrap());
        assert!(!heartbeat(&mut conn, slot).await.unwrap());
        world.audit().await;
    }
    let unknown = AdmissionId::from_uuid(Uuid::new_v4());
    assert!(!finished(&mut conn, unknown, End::Success).await.unwrap());
    assert!(!started(&mut conn, unknown).await.unwrap());
    // A job id is not an admission id.
    let job = world.text("SELECT job_id::text FROM fairgate.staged LIMIT 1").await.parse().unwrap();
    assert!(!finished(&mut conn, AdmissionId::from_uuid(job), End::Success).await.unwrap());
    assert_eq!(world.settle().await, 3, "three slots came back, and three only");
    world.audit().await;
}

#[tokio::test]
async fn finishing_after_the_sweeper_took_the_slot_changes_nothing() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 3).await;
    world.settle().await;
    let slot = admissions(&world).await[0];
    let mut conn = world.db.connect().await;
    assert!(heartbeat(&mut conn, slot).await.unwrap());
    let later = world.after_ms(600_000).await;
    assert_eq!(world.sweep_at(&fairgate::Settings::default(), later).await.silent, 1);
    assert_eq!(world.settle().await, 1, "the next holds the place now");
    assert!(!finished(&mut conn, slot, End::Success).await.unwrap());
    assert_eq!(world.complete("a", 1).await, 1, "the queue's job of the swept slot ends late");
    world.audit().await;
    assert_eq!(world.settle().await, 0);
    assert_eq!(world.in_flight().await, 1);
}

#[tokio::test]
async fn a_finisher_waits_for_a_locked_slot_instead_of_leaking_it() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    world.stage("p", "a", 4).await;
    world.settle().await;
    let slots = admissions(&world).await;
    let queue_job = format!(
        "DELETE FROM graphile_worker._private_jobs WHERE flags #>> '{{fairgate,a}}' = '{}'",
        slots[1]
    );
    let mut beating = world.db.connect().await;
    let mut beat = beating.begin().await.unwrap();
    sqlx::query("SELECT FROM fairgate.in_flight FOR UPDATE").execute(&mut *beat).await.unwrap();

    let (mut by_call, mut by_hook) = (world.db.connect().await, world.db.connect().await);
    let pids = [pid(&mut by_call).await, pid(&mut by_hook).await];
    let first = slots[0];
    let call = tokio::spawn(async move { finished(&mut by_call, first, End::Success).await });
    let hook =
        tokio::spawn(async move { sqlx::query(sqlx::AssertSqlSafe(queue_job)).execute(&mut by_hook).await });
    for waiting in pids {
        until_it_waits(world.pool(), waiting).await;
    }
    beat.commit().await.unwrap();
    assert!(call.await.unwrap().unwrap());
    assert_eq!(hook.await.unwrap().unwrap().rows_affected(), 1);
    assert_eq!(world.in_flight().await, 0);
    assert_eq!(world.settle().await, 2);
    world.audit().await;
}

#[tokio::test]
async fn an_end_that_is_rolled_back_keeps_the_slot() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 2).await;
    world.settle().await;
    let slot = admissions(&world).await[0];
    let mut conn = world.db.connect().await;
    let mut tx = conn.begin().await.unwrap();
    assert!(finished(&mut tx, slot, End::Success).await.unwrap());
    tx.rollback().await.unwrap();
    assert_eq!(world.settle().await, 0);
    assert!(finished(&mut conn, slot, End::Success).await.unwrap());
    assert_eq!(world.settle().await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_start_and_its_beats_are_recorded_once_and_again() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    world.stage("p", "a", 2).await;
    world.settle().await;
    let slots = admissions(&world).await;
    let mut conn = world.db.connect().await;
    let times = "SELECT concat_ws(' ', CASE WHEN started_at IS NOT NULL THEN 'started' END, CASE WHEN beat_at IS NOT NULL THEN 'beating' END)
                   FROM fairgate.inflight ORDER BY admission_id";
    assert_eq!(world.column(times).await, ["", ""]);
    assert!(started(&mut conn, slots[0]).await.unwrap());
    assert!(!started(&mut conn, slots[0]).await.unwrap(), "that was no news");
    assert_eq!(world.column(times).await, ["started", ""]);
    let beats = "SELECT max(beat_at)::text FROM fairgate.inflight";
    assert!(heartbeat(&mut conn, slots[1]).await.unwrap());
    let first = world.text(beats).await;
    assert!(heartbeat(&mut conn, slots[1]).await.unwrap());
    assert_ne!(world.text(beats).await, first);
    assert_eq!(world.column(times).await, ["started", "started beating"], "who beats has started");
}

#[tokio::test]
async fn an_outcome_that_is_none_is_refused_and_frees_nothing() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 1).await;
    world.settle().await;
    let slot = admissions(&world).await[0];
    let mut conn = world.db.connect().await;
    for (outcome, words) in
        [("done", "outcome is \"done\", it must be success, failed or ignored"), ("", "outcome is \"\", it")]
    {
        let error = finished_in_sql(&mut conn, slot, outcome).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(world.in_flight().await, 1);
}
