//! The guard of a running job: beats on a connection of its own, and an end in every case.

use std::time::Duration;

use fairgate::guard::{End, Guard, Heart, HeartError, Reported};
use fairgate::{AdmissionId, Settings};
use fairgate_testkit::TestDb;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Acquire, AssertSqlSafe};

use crate::wait::{until, until_sql};
use crate::world::{World, capped};

/// For reports that must be taken: longer than any test.
const PATIENT: Duration = Duration::from_secs(60);
/// For reports that cannot be taken.
const IMPATIENT: Duration = Duration::from_millis(20);

fn quick() -> Settings {
    Settings { heartbeat_interval: Duration::from_millis(20), ..Settings::default() }
}

/// Beats at the start of a job and never again while a test runs.
fn slow() -> Settings {
    Settings { heartbeat_interval: Duration::from_secs(100), ..Settings::default() }
}

async fn heart(db: &TestDb, settings: &Settings) -> Heart {
    let options: PgConnectOptions = db.url().parse().expect("a URL");
    Heart::start(options, settings).await.expect("a heart").patience(PATIENT)
}

/// A world with so many jobs in flight, and their admissions.
async fn running(count: usize) -> (World, Vec<AdmissionId>) {
    let mut world = World::new(vec![capped("p", 1000.0)]).await;
    world.stage("p", "a", count).await;
    world.settle().await;
    let ids = world.column("SELECT admission_id::text FROM fairgate.in_flight ORDER BY admission_id").await;
    let ids = ids.iter().map(|id| AdmissionId::from_uuid(id.parse().expect("a uuid"))).collect();
    (world, ids)
}

async fn until_it_beats_again(world: &World) {
    let last = world.text("SELECT max(beat_at)::text FROM fairgate.in_flight").await;
    let later = format!("SELECT coalesce(min(beat_at) > '{last}', false) FROM fairgate.in_flight");
    until_sql(world.pool(), &later).await;
}

async fn until_nothing_is_in_flight(world: &World) {
    until_sql(world.pool(), "SELECT NOT EXISTS (SELECT FROM fairgate.in_flight)").await;
}

#[tokio::test]
async fn a_pool_of_one_connection_that_is_busy_does_not_keep_a_guard_from_beating() {
    let (world, ids) = running(1).await;
    let pool = PgPoolOptions::new().max_connections(1).connect(world.db.url()).await.unwrap();
    let busy = pool.acquire().await.unwrap();
    let heart =
        Heart::start(pool.connect_options().as_ref().clone(), &quick()).await.unwrap().patience(PATIENT);
    let guard = heart.guard(ids[0]).await;
    assert!(guard.holds_slot());
    let started =
        "SELECT (started_at IS NOT NULL AND lag_ms IS NOT NULL)::int::bigint FROM fairgate.in_flight";
    assert_eq!(world.number(started).await, 1, "holding a guard is the start");
    until_it_beats_again(&world).await;
    assert!(pool.try_acquire().is_none(), "the pool has been busy all the while");
    assert_eq!(guard.finish(End::Success).await, Reported::Done);
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
    drop(busy);
}

#[tokio::test]
async fn all_guards_of_a_process_beat_in_one_statement() {
    let (world, ids) = running(50).await;
    let heart = heart(&world.db, &quick()).await;
    let mut guards = Vec::new();
    for id in ids {
        guards.push(heart.guard(id).await);
    }
    // One statement reads the clock once.
    until_sql(world.pool(), "SELECT count(*) = 50 AND count(DISTINCT beat_at) = 1 FROM fairgate.in_flight")
        .await;
    drop(guards);
    heart.close().await;
    assert_eq!(world.in_flight().await, 0, "a heart that is closed has reported everything");
    world.audit().await;
}

#[tokio::test]
async fn a_guard_whose_process_is_gone_is_swept_as_silent_and_its_slot_is_free() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 2).await;
    world.settle().await;
    let id = world.text("SELECT admission_id::text FROM fairgate.in_flight").await.parse().unwrap();
    let url = world.db.url().to_owned();
    let (guard, heart): (Guard, Heart) = std::thread::spawn(move || {
        let process = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let both = process.block_on(async {
            let heart = Heart::start(url.parse().unwrap(), &slow()).await.unwrap();
            (heart.guard(AdmissionId::from_uuid(id)).await, heart)
        });
        process.shutdown_background();
        both
    })
    .join()
    .unwrap();
    drop((guard, heart));
    let soon = world.after_ms(4 * 60_000).await;
    assert_eq!(world.sweep_at(&Settings::default(), soon).await.silent, 0);
    let later = world.after_ms(6 * 60_000).await;
    assert_eq!(
        world.sweep_at(&Settings::default(), later).await.silent,
        1,
        "although the queue still has its job"
    );
    assert_eq!(world.settle().await, 1, "its place is free");
    world.audit().await;
}

#[tokio::test]
async fn a_dropped_guard_a_panic_and_a_cancelled_job_report_a_failure() {
    let (world, ids) = running(3).await;
    world.execute("UPDATE fairgate.in_flight SET learns = true;
        CREATE TABLE public.ends (id uuid, outcome text);
        CREATE OR REPLACE FUNCTION fairgate.lesson(f fairgate.in_flight, outcome text) RETURNS jsonb LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO public.ends VALUES (f.admission_id, outcome); RETURN NULL; END $$").await;
    let heart = heart(&world.db, &slow()).await;
    drop(heart.guard(ids[0]).await);
    let panicking = heart.guard(ids[1]).await;
    let job = tokio::spawn(panicking.run(async {
        if true {
            panic!("a panic on purpose");
        }
        Ok::<(), ()>(())
    }));
    assert!(job.await.unwrap_err().is_panic(), "it is still the job's own panic");
    let cancelled = tokio::spawn(heart.guard(ids[2]).await.run(std::future::pending::<Result<(), ()>>()));
    cancelled.abort();
    assert!(cancelled.await.unwrap_err().is_cancelled());
    heart.close().await;
    assert_eq!(world.in_flight().await, 0);
    assert_eq!(world.number("SELECT count(*) FROM public.ends WHERE outcome = 'failed'").await, 3);
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_is_run_under_a_guard_reports_its_own_end_and_gives_its_own_result() {
    let (world, ids) = running(4).await;
    let heart = heart(&world.db, &quick()).await;
    let good: Result<i32, String> = heart.guard(ids[0]).await.run(async { Ok(5) }).await;
    let bad: Result<i32, String> = heart.guard(ids[1]).await.run(async { Err("no".to_owned()) }).await;
    assert_eq!((good, bad), (Ok(5), Err("no".to_owned())));
    assert_eq!(world.in_flight().await, 2);
    // The same while no report can be taken; what could not be said is said later.
    world.execute("ALTER FUNCTION fairgate.finished_many(uuid[], text[]) RENAME TO away").await;
    let impatient = heart.patience(IMPATIENT);
    let good: Result<i32, String> = impatient.guard(ids[2]).await.run(async { Ok(6) }).await;
    assert_eq!(good, Ok(6));
    let guard = impatient.guard(ids[3]).await;
    assert_eq!(guard.finish(End::Ignored).await, Reported::Later);
    world.execute("ALTER FUNCTION fairgate.away(uuid[], text[]) RENAME TO finished_many").await;
    until_nothing_is_in_flight(&world).await;
    world.audit().await;
}

#[tokio::test]
async fn an_end_that_is_late_or_second_changes_nothing() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    world.stage("p", "a", 4).await;
    world.settle().await;
    let ids = world.column("SELECT admission_id::text FROM fairgate.in_flight ORDER BY admission_id").await;
    let ids: Vec<_> = ids.iter().map(|id| AdmissionId::from_uuid(id.parse().unwrap())).collect();
    let heart = heart(&world.db, &quick()).await;
    let (swept, twin, other_twin) =
        (heart.guard(ids[0]).await, heart.guard(ids[1]).await, heart.guard(ids[1]).await);
    world.execute(&format!("SELECT fairgate.finished('{}', 'success')", ids[0])).await;
    until("the guard learns that its slot is gone", || async { swept.lost_slot() }).await;
    assert_eq!(swept.finish(End::Success).await, Reported::Gone);
    assert_eq!(twin.finish(End::Success).await, Reported::Done);
    assert_eq!(other_twin.finish(End::Failed).await, Reported::Gone);
    assert!(heart.guard(ids[1]).await.lost_slot(), "an admission that has ended cannot be held");
    world.audit().await;
    assert_eq!(world.settle().await, 2, "two places came back, and two only");
}

#[tokio::test]
async fn a_heart_whose_connection_is_lost_goes_on_with_a_new_one() {
    let (world, ids) = running(1).await;
    let heart = heart(&world.db, &quick()).await;
    let guard = heart.guard(ids[0]).await;
    let sessions =
        "FROM pg_stat_activity WHERE application_name = 'fairgate guard' AND datname = current_database()";
    let before = world.number(&format!("SELECT pid::bigint {sessions}")).await;
    world.execute(&format!("SELECT pg_terminate_backend(pid) {sessions}")).await;
    until_sql(world.pool(), &format!("SELECT EXISTS (SELECT {sessions} AND pid <> {before})")).await;
    until_it_beats_again(&world).await;
    assert_eq!(guard.finish(End::Success).await, Reported::Done);
}

#[tokio::test]
async fn a_slot_that_somebody_holds_delays_no_other_and_its_end_is_not_lost() {
    let (world, ids) = running(3).await;
    let heart = heart(&world.db, &quick()).await;
    let (held, other) = (heart.guard(ids[0]).await, heart.guard(ids[1]).await);
    let mut conn = world.db.connect().await;
    let mut tx = conn.begin().await.unwrap();
    let lock = format!("SELECT FROM fairgate.in_flight WHERE admission_id = '{}' FOR UPDATE", ids[0]);
    sqlx::query(AssertSqlSafe(lock)).execute(&mut *tx).await.unwrap();
    let end = tokio::spawn(held.finish(End::Success));
    let beat = format!("SELECT beat_at::text FROM fairgate.in_flight WHERE admission_id = '{}'", ids[1]);
    let last = world.text(&beat).await;
    until("the other beats", || async { world.text(&beat).await != last }).await;
    assert!(heart.guard(ids[2]).await.holds_slot(), "a new job begins meanwhile");
    assert_eq!(other.finish(End::Success).await, Reported::Done);
    assert!(!end.is_finished(), "an end waits for whoever holds its slot");
    tx.commit().await.unwrap();
    assert_eq!(end.await.unwrap(), Reported::Done);
    assert_eq!(world.in_flight().await, 0);
    world.audit().await;
}

#[tokio::test]
async fn a_start_that_finds_its_slot_held_is_recorded_as_soon_as_it_is_let_go() {
    let (world, ids) = running(2).await;
    let heart = heart(&world.db, &slow()).await;
    let mut conn = world.db.connect().await;
    let mut tx = conn.begin().await.unwrap();
    let lock = format!("SELECT FROM fairgate.in_flight WHERE admission_id = '{}' FOR UPDATE", ids[0]);
    sqlx::query(AssertSqlSafe(lock)).execute(&mut *tx).await.unwrap();
    let (first, second) = tokio::join!(heart.guard(ids[0]), async {
        let second = heart.guard(ids[1]).await;
        tx.commit().await.unwrap();
        second
    });
    assert!(second.holds_slot(), "another start did not wait for it");
    assert!(first.holds_slot(), "long before the next beat");
    assert_eq!(world.number("SELECT count(*) FROM fairgate.in_flight WHERE lag_ms IS NOT NULL").await, 2);
}

#[tokio::test]
async fn an_attempt_that_the_queue_will_repeat_keeps_its_slot_and_is_not_swept_as_silent() {
    let (world, ids) = running(1).await;
    let heart = heart(&world.db, &slow()).await;
    assert_eq!(heart.guard(ids[0]).await.retried().await, Reported::Done);
    let later = world.after_ms(3_600_000).await;
    assert_eq!(world.sweep_at(&Settings::default(), later).await.silent, 0);
    let lag = "SELECT lag_ms::text FROM fairgate.in_flight";
    let first = world.text(lag).await;
    let again = heart.guard(ids[0]).await;
    assert!(again.holds_slot());
    assert_eq!(world.text(lag).await, first, "the lag is that of the first start");
    assert_eq!(again.finish(End::Success).await, Reported::Done);
    assert_eq!(world.in_flight().await, 0);
}

#[tokio::test]
async fn behind_a_pooler_every_report_is_a_transaction_of_its_own() {
    let (world, ids) = running(1).await;
    let heart = heart(&world.db, &Settings { pooled: true, ..quick() }).await;
    let guard = heart.guard(ids[0]).await;
    until_it_beats_again(&world).await;
    let last = "SELECT query = 'COMMIT' AND state = 'idle' FROM pg_stat_activity WHERE application_name = 'fairgate guard' AND datname = current_database()";
    until_sql(world.pool(), last).await;
    assert_eq!(guard.finish(End::Success).await, Reported::Done);
    until_sql(world.pool(), last).await;
}

#[tokio::test]
async fn a_heart_says_at_its_start_what_is_wrong() {
    let db = TestDb::bare().await;
    let options: PgConnectOptions = db.url().parse().unwrap();
    let missing = Heart::start(options.clone(), &quick()).await.unwrap_err();
    assert!(matches!(missing, HeartError::NotMigrated), "{missing}");
    let nonsense = Settings { heartbeat_interval: Duration::ZERO, ..Settings::default() };
    let refused = Heart::start(options.clone(), &nonsense).await.unwrap_err();
    assert_eq!(refused.to_string(), "heartbeat_interval is 0s; give a time from 10ms to 1d");
    let nowhere = Heart::start(options.port(1), &quick()).await.unwrap_err();
    assert!(nowhere.to_string().starts_with("connecting for the guards of jobs: "), "{nowhere}");
}
