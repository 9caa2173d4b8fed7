//! Limits of one partition that are overridden for a while.

use std::time::Duration;

use chrono::TimeDelta;
use fairgate::observe::explain_partition;
use fairgate::operate::{OperateError, pause_partition, resume_partition};
use fairgate::overrides::{self, NewOverride, Override, OverrideError};
use fairgate::{PartitionKey, Settings};

use crate::wait::{
    close_the_gate, gate_the_queue, open_the_gate, pid, until_it_waits, until_somebody_waits, until_sql,
};
use crate::world::{World, capped, name, open, policy, ticker};

const HOUR: Duration = Duration::from_secs(3_600);

fn key(text: &str) -> PartitionKey {
    text.parse().expect("a key")
}

fn new(target: &str, value: f64) -> NewOverride {
    let target = target.parse().expect("a target");
    NewOverride { target, value, lasts: HOUR, reason: "they asked".to_owned(), who: Some("ada".to_owned()) }
}

async fn make(world: &World, tenant: &str, one: &NewOverride) -> Result<Override, OverrideError> {
    overrides::make(&mut *world.conn().await, &name("p"), &key(tenant), one).await
}

async fn clear(world: &World, tenant: &str) -> u64 {
    overrides::clear(&mut *world.conn().await, &name("p"), &key(tenant), None).await.expect("cleared")
}

const DUE: &str = "SELECT count(*) FROM fairgate.partitions WHERE due_at <= clock_timestamp()";

#[tokio::test]
async fn an_override_is_the_limit_of_its_partition_alone_until_it_ends_by_itself() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 9).await;
    world.stage("p", "b", 9).await;
    let made = make(&world, "a", &new("concurrency.max", 3.0)).await.unwrap();
    assert_eq!(world.settle().await, 4, "three of a, known from reports alone, and one of b");
    let limits =
        "SELECT string_agg(DISTINCT partition_key || (limits ->> 'concurrency'), ' ') FROM fairgate.inflight";
    assert_eq!(world.text(limits).await, "a3 b1", "rows carry the cap in force");
    world.audit().await;
    world.complete("a", 3).await;
    assert_eq!(world.admitted_at(made.until - TimeDelta::microseconds(1)).await, 3);
    world.complete("a", 3).await;
    assert_eq!(world.admitted_at(made.until).await, 1, "from that instant on the policy's own");
    world.audit().await;
}

#[tokio::test]
async fn what_waits_is_looked_at_at_the_end_without_a_sweep() {
    let p = policy("p").concurrency(|c| c.max(5.0).full_backoff(HOUR * 24)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 9).await;
    let made = make(&world, "a", &new("concurrency.max", 1.0)).await.unwrap();
    assert_eq!(world.settle().await, 1);
    let due = format!("SELECT count(*) FROM fairgate.partitions WHERE due_at = '{}'", made.until);
    assert_eq!(world.number(&due).await, 1, "its end, not the backoff of a day");
    assert_eq!(world.admitted_at(made.until).await, 4);
}

#[tokio::test]
async fn making_and_clearing_let_what_waits_be_looked_at_at_once() {
    let p = policy("p").throttle(|t| t.rate(1.0).per(HOUR * 24).burst(1.0)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 9).await;
    assert_eq!(world.settle().await, 1);
    assert_eq!(world.number(DUE).await, 0);
    make(&world, "a", &new("throttle.rate", 0.0)).await.unwrap();
    assert_eq!(world.number(DUE).await, 1);
    assert_eq!(world.settle().await, 0);
    assert_eq!((clear(&world, "a").await, world.number(DUE).await), (1, 1));
    assert_eq!(clear(&world, "a").await, 0, "it has ended");
    assert_eq!(world.settle().await, 0);
    let by_rate =
        "SELECT (due_at > clock_timestamp() + interval '2 hours')::int::bigint FROM fairgate.partitions";
    assert_eq!(world.number(by_rate).await, 1, "the policy's own rate says when");
}

#[tokio::test]
async fn a_newer_override_takes_the_place_of_an_older_one() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 9).await;
    make(&world, "a", &new("concurrency.max", 2.0)).await.unwrap();
    make(&world, "a", &NewOverride { who: None, ..new("concurrency.max", 4.0) }).await.unwrap();
    assert_eq!(world.settle().await, 4);
    let user = world.text("SELECT session_user::text").await;
    let list = overrides::list(&mut *world.conn().await, &name("p"), None).await.unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!((list[0].value, &list[0].who, list[0].reason.as_str()), (4.0, &user, "they asked"));
    assert_eq!(list[0].partition.as_deref(), Some("a"));
}

#[tokio::test]
async fn an_override_that_is_made_waits_for_the_tick_that_holds_the_partition() {
    let mut world = World::new(vec![open("p"), capped("q", 2.0)]).await;
    gate_the_queue(world.pool()).await;
    let mut gate = world.db.connect().await;
    close_the_gate(&mut gate).await;
    world.stage("q", "a", 9).await;
    let pool = world.pool().clone();
    let (db, ticker) = (&world.db, &mut world.ticker);
    let mut conn = db.connect().await;
    let operate = async {
        until_somebody_waits(&pool).await;
        let mut operator = db.connect().await;
        let operating = pid(&mut operator).await;
        let done = tokio::spawn(async move {
            let one = new("concurrency.max", 3.0);
            overrides::make(&mut operator, &name("q"), &key("a"), &one).await.map(drop)
        });
        until_it_waits(&pool, operating).await;
        open_the_gate(&mut gate).await;
        done.await.expect("no panic").expect("made");
        let seen = "SELECT count(*) FROM fairgate.in_flight";
        sqlx::query_scalar::<_, i64>(seen).fetch_one(&pool).await.expect("a count")
    };
    let (pass, seen) = tokio::join!(ticker.pass(&mut conn, None, None), operate);
    assert_eq!((pass.unwrap().ticks.jobs_admitted, seen), (2, 2), "it returned after that tick");
    assert_eq!(world.settle().await, 1, "and the next one goes by it");
}

#[tokio::test]
async fn a_ticker_that_sleeps_is_woken_by_an_override() {
    let p = policy("p").concurrency(|c| c.max(0.0).full_backoff(HOUR * 24)).build().expect("a policy");
    let world = World::new(vec![p]).await;
    let (stop, mut stopped) = tokio::sync::broadcast::channel::<()>(1);
    let settings = Settings { idle_pause: Duration::from_secs(60), ..Settings::default() };
    let served = ticker(world.pool(), vec![], settings).await;
    let running = tokio::spawn(served.run(async move { _ = stopped.recv().await }));
    world.stage("p", "a", 1).await;
    until_sql(world.pool(), "SELECT count(*) = 1 FROM fairgate.partitions WHERE denial IS NOT NULL").await;
    until_sql(world.pool(), "SELECT count(*) > 0 FROM fairgate.ticker WHERE asleep").await;
    make(&world, "a", &new("concurrency.max", 1.0)).await.unwrap();
    until_sql(world.pool(), "SELECT count(*) = 1 FROM fairgate.in_flight").await;
    stop.send(()).expect("it listens");
    running.await.expect("no panic").expect("a ticker that ran");
}

#[tokio::test]
async fn a_paused_partition_stays_paused_and_goes_by_the_override_when_it_goes_on() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 9).await;
    world.absorb().await;
    pause_partition(&mut *world.conn().await, &name("p"), &key("a")).await.unwrap();
    make(&world, "a", &new("concurrency.max", 3.0)).await.unwrap();
    assert_eq!(world.settle().await, 0);
    resume_partition(&mut *world.conn().await, &name("p"), &key("a")).await.unwrap();
    assert_eq!(world.settle().await, 3);
}

#[tokio::test]
async fn the_sweep_forgets_an_override_once_its_partition_was_looked_at_after_its_end() {
    let p = policy("p").throttle(|t| t.rate(1.0).per(Duration::from_secs(1)).burst(50.0));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    world.stage("p", "a", 50).await;
    let made = make(&world, "a", &new("throttle.rate", 0.0)).await.unwrap();
    assert_eq!(world.settle().await, 0, "a rate of zero");
    world.execute("SELECT fairgate.cancel(job_id) FROM fairgate.staged").await;
    world.settle().await;
    let settings = Settings::default();
    assert_eq!(world.sweep_at(&settings, None).await.overrides, 0, "in force");
    assert_eq!(world.sweep_at(&settings, made.until).await.overrides, 0, "nobody has looked since");
    assert_eq!(world.number(DUE).await, 1, "somebody is to");
    world.pass_at(made.until + TimeDelta::seconds(1)).await;
    assert_eq!(world.sweep_at(&settings, made.until).await.overrides, 1);
    world.audit().await;
}

#[tokio::test]
async fn an_override_outlives_its_partition() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 1);
    world.complete("a", 1).await;
    world.settle().await;
    let lasts = HOUR * 24 * 300;
    make(&world, "a", &NewOverride { lasts, ..new("concurrency.max", 3.0) }).await.unwrap();
    world.settle().await;
    let (settings, later) = (Settings::default(), world.after_ms(48 * 3_600_000).await);
    until_removed(&world, &settings, later).await;
    world.stage("p", "a", 9).await;
    assert_eq!(world.settle().await, 3);
}

async fn until_removed(world: &World, settings: &Settings, now: chrono::DateTime<chrono::Utc>) {
    while world.number("SELECT count(*) FROM fairgate.partition").await > 0 {
        world.sweep_at(settings, now).await;
    }
}

#[tokio::test]
async fn a_forced_admission_charges_by_the_limits_in_force() {
    let world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "a", 9).await;
    make(&world, "a", &new("concurrency.max", 7.0)).await.unwrap();
    let means = fairgate::force::Means::default();
    let forced = fairgate::force::admit(&mut *world.conn().await, &means, &name("p"), &key("a"), 1).await;
    assert_eq!(forced.unwrap().admitted, 1);
    assert_eq!(world.text("SELECT limits ->> 'concurrency' FROM fairgate.inflight").await, "7");
}

#[tokio::test]
async fn explain_names_an_override_in_force_and_knows_its_end() {
    let mut world = World::new(vec![capped("p", 5.0)]).await;
    world.stage("p", "a", 9).await;
    let made = make(&world, "a", &new("concurrency.max", 1.0)).await.unwrap();
    assert_eq!(world.settle().await, 1);
    let told = explain_partition(&mut *world.conn().await, &[], &name("p"), &key("a"), None).await.unwrap();
    assert_eq!((told.overrides, told.earliest), (vec![made.clone()], Some(made.until)));
    assert!(made.who.starts_with("ada as "), "{}", made.who);
    let end = Some(made.until);
    let later = explain_partition(&mut *world.conn().await, &[], &name("p"), &key("a"), end).await;
    assert_eq!(later.unwrap().overrides, []);
}

#[tokio::test]
async fn what_cannot_be_overridden_is_refused_and_named() {
    let world = World::new(vec![capped("p", 1.0)]).await;
    let nobody = make(&world, "nobody", &new("concurrency.max", 1.0)).await.unwrap_err();
    assert!(matches!(nobody, OverrideError::Operate(OperateError::UnknownPartition { .. })), "{nobody}");
    world.stage("p", "a", 1).await;
    for target in ["concurency.max", "concurrency.rate"] {
        let error = make(&world, "a", &new(target, 1.0)).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains(target) && text.contains("did you mean \"concurrency.max\"?"), "{text}");
    }
    for value in [-1.0, f64::NAN, f64::INFINITY] {
        let error = make(&world, "a", &new("concurrency.max", value)).await.unwrap_err();
        assert!(matches!(error, OverrideError::BadValue { .. }), "{error}");
    }
    for lasts in [Duration::ZERO, HOUR * 24 * 400] {
        let error = make(&world, "a", &NewOverride { lasts, ..new("concurrency.max", 1.0) }).await;
        assert!(matches!(error, Err(OverrideError::BadSpan { .. })), "{error:?}");
    }
    let silent = NewOverride { reason: " ".to_owned(), ..new("concurrency.max", 1.0) };
    assert!(matches!(make(&world, "a", &silent).await, Err(OverrideError::BadReason)));
    assert_eq!(world.number("SELECT count(*) FROM fairgate.override").await, 0);
}
