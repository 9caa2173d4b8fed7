//! Forced admission: `admit` and `drain`.

use std::time::Duration;

use chrono::TimeDelta;
use fairgate::force::{ForceError, Forced, Means, admit, drain};
use fairgate::operate::{OperateError, pause, pause_partition, set_enabled};
use fairgate::{PartitionKey, Settings};

use crate::wait::{close_the_gate, gate_the_queue, open_the_gate, until_it_waits, until_somebody_waits};
use crate::world::{World, capped, job, name, open, policy, queued, ticker};

fn key(text: &str) -> PartitionKey {
    text.parse().expect("a key")
}

async fn admit_now(world: &World, partition: &str, count: u32) -> Forced {
    admit(&mut world.db.connect().await, &Means::default(), &name("p"), &key(partition), count)
        .await
        .expect("forced")
}

async fn drain_now(world: &World) -> Forced {
    drain(&mut world.db.connect().await, &Means::default(), &name("p"), None).await.expect("forced")
}

fn forced(admitted: u64, waiting: i64, scheduled: i64) -> Forced {
    Forced { admitted, refused: 0, waiting, scheduled }
}

#[tokio::test]
async fn forced_jobs_go_in_order_past_a_full_gate_and_a_pause_are_marked_and_counted() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    world.stage("p", "t", 5).await;
    assert_eq!(world.settle().await, 1);
    pause(&mut *world.conn().await, &name("p")).await.unwrap();
    pause_partition(&mut *world.conn().await, &name("p"), &key("t")).await.unwrap();
    let urgent = job("t").priority(-1);
    let first = world.stage_jobs("p", &[urgent]).await[0].job_id;
    assert_eq!(admit_now(&world, "t", 2).await, forced(2, 3, 0));
    world.audit().await;
    let marked = "SELECT count(*) FROM fairgate.inflight WHERE forced AND limits = '{\"concurrency\": 1}'";
    assert_eq!(world.number(marked).await, 2);
    let urgent_went = format!("SELECT count(*) FROM fairgate.inflight WHERE forced AND job_id = '{first}'");
    assert_eq!(world.number(&urgent_went).await, 1, "the smallest priority first");
    assert_eq!(queued(&mut *world.conn().await, "t").await, 3);
    assert_eq!(world.number("SELECT in_flight::bigint FROM fairgate.partitions").await, 3);
    assert_eq!(
        world.number("SELECT count(*) FROM fairgate.partitions WHERE paused AND due_at IS NULL").await,
        1
    );
}

#[tokio::test]
async fn a_forced_admission_puts_the_bucket_into_debt_that_must_be_paid() {
    let minute = Duration::from_secs(60);
    let p = policy("p").throttle(|t| t.rate(60.0).per(minute).burst(2.0)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "t", 20).await;
    assert_eq!(admit_now(&world, "t", 6).await, forced(6, 14, 0));
    let now = world.after_ms(0).await;
    assert_eq!(world.admitted_at(now + TimeDelta::milliseconds(3_900)).await, 0, "four tokens are owed");
    assert_eq!(world.admitted_at(now + TimeDelta::milliseconds(5_000)).await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_drain_admits_what_waits_of_every_partition_while_disabled_and_reports_scheduled_jobs() {
    let world = World::new(vec![capped("p", 1.0), open("other")]).await;
    let run_at = world.after_ms(3_600_000).await;
    for n in 0..60 {
        world.stage("p", &format!("t{n}"), 3).await;
    }
    world.stage("p", "big", 2_500).await;
    world.stage("other", "t", 1).await;
    world.stage_jobs("p", &[job("t1").run_at(run_at)]).await;
    set_enabled(&mut *world.conn().await, false).await.unwrap();
    assert_eq!(drain_now(&world).await, forced(2_680, 0, 1));
    world.audit().await;
    assert_eq!(world.number("SELECT count(*) FROM fairgate.inflight WHERE forced").await, 2_680);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 2);
    assert_eq!(drain_now(&world).await, forced(0, 0, 1));
    let sampled = "SELECT sum(jobs_admitted) FROM fairgate.tick_samples WHERE policy = 'p'";
    assert_eq!(world.number(sampled).await, 2_680);
}

#[tokio::test]
async fn a_drain_of_one_partition_leaves_the_others() {
    let world = World::new(vec![open("p")]).await;
    world.stage("p", "a", 3).await;
    world.stage("p", "b", 3).await;
    let mut conn = world.db.connect().await;
    let done = drain(&mut conn, &Means::default(), &name("p"), Some(&key("a"))).await.unwrap();
    assert_eq!(done, forced(3, 0, 0));
    assert_eq!(queued(&mut conn, "b").await, 0);
    let error = admit(&mut conn, &Means::default(), &name("p"), &key("c"), 1).await.unwrap_err();
    assert!(matches!(error, ForceError::Operate(OperateError::UnknownPartition { .. })), "{error}");
}

#[tokio::test]
async fn a_queue_that_is_not_ready_stops_a_drain_with_the_reason_and_nothing_is_lost() {
    let world = World::new(vec![open("p")]).await;
    world.stage("p", "a", 3).await;
    world.execute("UPDATE fairgate.queue SET ready = false, not_ready_reason = 'it sleeps'").await;
    let mut conn = world.db.connect().await;
    let error = drain(&mut conn, &Means::default(), &name("p"), None).await.unwrap_err();
    assert_eq!(error.to_string(), "queue \"main\" of policy \"p\" is not ready: it sleeps");
    world.execute("UPDATE fairgate.queue SET ready = true; ALTER TABLE graphile_worker._private_jobs RENAME TO hidden").await;
    let error = drain(&mut conn, &Means::default(), &name("p"), None).await.unwrap_err();
    assert!(matches!(error, ForceError::QueueNotReady { .. }), "{error}");
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 3);
    world.audit().await;
}

#[tokio::test]
async fn a_drain_that_fails_half_way_says_how_many_jobs_had_gone() {
    let world = World::new(vec![open("p")]).await;
    world.stage("p", "t", 1_500).await;
    // The queue's own trigger counts, and breaks down in the second batch.
    world
        .execute(
            "CREATE SEQUENCE public.passed;
             CREATE FUNCTION public.tire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               IF nextval('public.passed') > 1200 THEN RAISE EXCEPTION 'worn out' USING ERRCODE = 'insufficient_privilege'; END IF; RETURN NEW; END $$;
             CREATE TRIGGER tire BEFORE INSERT ON graphile_worker._private_jobs FOR EACH ROW EXECUTE FUNCTION public.tire()",
        )
        .await;
    let mut conn = world.db.connect().await;
    let error = drain(&mut conn, &Means::default(), &name("p"), None).await.unwrap_err();
    let ForceError::Halfway { admitted: 1_000, source } = &error else { panic!("{error}") };
    assert!(matches!(**source, ForceError::QueueNotReady { .. }), "{source}");
    assert!(
        error
            .to_string()
            .starts_with("1000 jobs had been admitted, and stay so, when it failed: queue \"main\""),
        "{error}"
    );
    assert_eq!((world.queue_length().await, world.in_flight().await), (1_000, 1_000));
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 500);
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_the_queue_refuses_holds_up_no_drain() {
    let world = World::new(vec![open("p")]).await;
    world
        .execute(
            "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END $$;
             CREATE TRIGGER refuse BEFORE INSERT ON graphile_worker._private_jobs FOR EACH ROW
               WHEN (NEW.payload::text = '\"poison\"') EXECUTE FUNCTION public.refuse()",
        )
        .await;
    let poison = job("t").payload("poison").expect("a payload");
    let jobs: Vec<_> = (0..200).map(|n| if n % 5 == 0 { poison.clone() } else { job("t") }).collect();
    world.stage_jobs("p", &jobs).await;
    let done = drain_now(&world).await;
    assert_eq!((done.admitted, done.refused, done.waiting, done.scheduled), (160, 40, 0, 40));
    world.audit().await;
}

#[tokio::test]
async fn a_gate_whose_closure_is_missing_does_not_stop_it() {
    let p = policy("p").concurrency(|c| c.max_fn(|_| 1.0)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "t", 5).await;
    assert_eq!(admit_now(&world, "t", 2).await, forced(2, 3, 0));
    assert_eq!(world.settle().await, 0, "the closure says 1");
    assert_eq!(world.complete("t", 2).await, 2);
    assert_eq!(world.settle().await, 1, "at once");
    world.audit().await;
}

#[tokio::test]
async fn a_forced_admission_waits_for_the_tick_that_holds_the_partition_and_takes_no_job_twice() {
    let settings = Settings { admission_batch_size: 2, ..Settings::default() };
    let mut world = World::with(vec![open("p")], settings).await;
    gate_the_queue(world.pool()).await;
    let mut gate = world.db.connect().await;
    close_the_gate(&mut gate).await;
    world.stage("p", "t", 5).await;
    let pool = world.pool().clone();
    let (db, ticker) = (&world.db, &mut world.ticker);
    let mut conn = db.connect().await;
    let force = async {
        until_somebody_waits(&pool).await;
        let mut operator = db.connect().await;
        let operating = crate::wait::pid(&mut operator).await;
        let done = tokio::spawn(async move {
            admit(&mut operator, &Means::default(), &name("p"), &key("t"), 4).await.map(|f| f.admitted)
        });
        until_it_waits(&pool, operating).await;
        open_the_gate(&mut gate).await;
        done.await.expect("no panic").expect("forced")
    };
    let (pass, forced) = tokio::join!(ticker.pass(&mut conn, None, None), force);
    assert_eq!((pass.unwrap().ticks.jobs_admitted, forced), (2, 3), "never more than there are");
    assert_eq!(world.queue_length().await, 5);
    world.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beside_running_tickers_each_job_is_admitted_once() {
    let world = World::new(vec![open("p")]).await;
    for n in 0..20 {
        world.stage("p", &format!("t{n}"), 50).await;
    }
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let settings = Settings { partition_batch_size: 3, admission_batch_size: 2, ..Settings::default() };
    let running = ticker(world.pool(), vec![], settings).await;
    let running = tokio::spawn(running.run(async move { _ = stopped.changed().await }));
    let mut forced = 0;
    for n in 0..20 {
        forced += admit_now(&world, &format!("t{n}"), 20).await.admitted;
    }
    forced += drain_now(&world).await.admitted;
    crate::wait::until_sql(world.pool(), "SELECT count(*) = 0 FROM fairgate.staged").await;
    stop.send(true).expect("it listens");
    running.await.expect("no panic").expect("it ran");
    assert_eq!(world.queue_length().await, 1_000);
    assert_eq!(world.number("SELECT count(DISTINCT job_id) FROM fairgate.in_flight").await, 1_000);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.in_flight WHERE forced").await, forced as i64);
    world.audit().await;
}
