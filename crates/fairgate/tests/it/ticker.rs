//! A running ticker: what it serves, how it stops, what it refuses, what it waits out.

use std::time::Duration;

use fairgate::ticker::{BuildError, RunError};
use fairgate::{Settings, Ticker};
use fairgate_core::definition::HalfLife;
use fairgate_testkit::{Signal, TestDb};
use graphile_worker::WorkerUtils;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::wait::{close_the_gate, gate_the_queue, open_the_gate, until_somebody_waits, until_sql};
use crate::world::{World, builder, name, open, policy, queued, ticker};

const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a ticker until `stop` is fired; `stopping` is fired when it has taken notice.
fn run(ticker: Ticker, stop: &Signal, stopping: &Signal) -> tokio::task::JoinHandle<Result<(), RunError>> {
    let (stop, stopping) = (stop.clone(), stopping.clone());
    tokio::spawn(ticker.run(async move {
        stop.wait_within(Duration::MAX, 1).await;
        stopping.fire();
    }))
}

#[tokio::test]
async fn a_ticker_stops_within_the_tick_that_it_is_in() {
    let world = World::new(vec![open("p")]).await;
    gate_the_queue(world.pool()).await;
    let mut gate = world.db.connect().await;
    close_the_gate(&mut gate).await;
    for n in 0..20 {
        world.stage("p", &format!("t{n}"), 5).await;
    }
    let settings = Settings { partition_batch_size: 1, ..Settings::default() };
    let (stop, stopping) = (Signal::new("stop"), Signal::new("stopping"));
    let running = run(ticker(world.pool(), vec![], settings).await, &stop, &stopping);
    until_somebody_waits(world.pool()).await;
    stop.fire();
    stopping.wait().await;
    open_the_gate(&mut gate).await;
    tokio::time::timeout(PATIENCE, running).await.expect("it ends").unwrap().unwrap();
    assert_eq!(
        world.number("SELECT count(*) FROM fairgate.tick_samples").await,
        1,
        "the tick it was in, and no other"
    );
    assert_eq!(world.queue_length().await, 5);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.ticker").await, 0);
    world.audit().await;
}

#[tokio::test]
async fn an_idle_or_pausing_ticker_stops_although_its_pause_is_long() {
    let minute = Duration::from_secs(60);
    for settings in [
        Settings { idle_pause: minute, ..Settings::default() },
        Settings { idle_pause: minute, notifications: false, ..Settings::default() },
        Settings { busy_pause: minute, ..Settings::default() },
    ] {
        let world = World::new(vec![open("p")]).await;
        let pausing = if settings.busy_pause.is_zero() {
            "SELECT EXISTS (SELECT FROM fairgate.ticker)"
        } else {
            world.stage("p", "a", 1).await;
            "SELECT EXISTS (SELECT FROM fairgate.in_flight)"
        };
        let (stop, stopping) = (Signal::new("stop"), Signal::new("stopping"));
        let running = run(ticker(world.pool(), vec![], settings).await, &stop, &stopping);
        until_sql(world.pool(), pausing).await;
        stop.fire();
        tokio::time::timeout(PATIENCE, running).await.expect("it ends").unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_ticker_for_one_policy_or_one_shard_serves_that_alone() {
    let sharded = policy("sharded").shard_by("region").build().expect("a policy");
    let mut world = World::new(vec![open("p"), sharded]).await;
    world.stage("p", "plain", 1).await;
    for region in ["eu", "us"] {
        world.stage_with("sharded", region, serde_json::json!({ "region": region })).await;
    }
    let mut eu = builder(world.pool())
        .only_policy(&name("sharded"))
        .only_shard(&"eu".parse().unwrap())
        .build()
        .unwrap();
    let mut p = builder(world.pool()).only_policy(&name("p")).build().unwrap();
    let served = async |ticker: &mut Ticker| {
        let mut conn = world.db.connect().await;
        let admitted = ticker.pass(&mut conn, None, None).await.unwrap().ticks.jobs_admitted;
        let again = ticker.pass(&mut conn, None, None).await.unwrap().ticks.jobs_admitted;
        let mut counts = Vec::new();
        for tenant in ["plain", "eu", "us"] {
            counts.push(queued(&mut conn, tenant).await);
        }
        (admitted, again, counts)
    };
    assert_eq!(served(&mut eu).await, (1, 0, vec![0, 1, 0]));
    assert_eq!(served(&mut p).await, (1, 0, vec![1, 1, 0]));
    assert_eq!(world.settle().await, 1);
    assert_eq!(queued(&mut *world.conn().await, "us").await, 1);
}

#[tokio::test]
async fn nonsense_settings_are_refused_all_at_once() {
    let world = World::new(vec![]).await;
    let settings = Settings {
        partition_batch_size: 0,
        admission_batch_size: 0,
        tick_max_duration: Duration::ZERO,
        idle_pause: Duration::ZERO,
        busy_pause: Duration::from_secs(3_600),
        sweep_every: Duration::ZERO,
        inflight_stale_after: Duration::from_secs(1),
        metrics_retention: Duration::ZERO,
        fairness_half_life: HalfLife::Of(Duration::ZERO),
        tick_admission_budget: Some(0),
        throughput_target: Some(f64::NAN),
        max_forward_attempts: 0,
        ..Settings::default()
    };
    let keys = [
        "partition_batch_size is 0; give a number from 1 to",
        "admission_batch_size is 0",
        "max_forward_attempts is 0",
        "tick_admission_budget is 0",
        "tick_max_duration is",
        "idle_pause is",
        "busy_pause is 1h",
        "sweep_every is",
        "metrics_retention is",
        "fairness_half_life is",
        "inflight_stale_after is less than two heartbeat_intervals",
        "throughput_target is NaN",
    ];
    let refused = [
        builder(world.pool()).settings(settings.clone()).build(),
        builder(world.pool()).settings(settings).register().await,
    ];
    for error in refused.map(Result::unwrap_err) {
        let BuildError::Settings { problems } = &error else { panic!("{error:?}") };
        assert_eq!(problems.len(), keys.len(), "{problems:#?}");
        for key in keys {
            assert!(problems.iter().any(|p| p.starts_with(key)), "{key}: {problems:#?}");
        }
    }
    assert!(builder(world.pool()).settings(Settings::default()).build().is_ok());
}

#[tokio::test]
async fn nothing_is_registered_when_the_settings_are_refused() {
    let world = World::new(vec![]).await;
    let settings = Settings { idle_pause: Duration::ZERO, ..Settings::default() };
    builder(world.pool()).settings(settings).policy(open("p")).register().await.unwrap_err();
    assert_eq!(world.number("SELECT count(*) FROM fairgate.policy").await, 0);
}

#[tokio::test]
async fn a_ticker_on_a_database_without_the_schema_says_what_to_run() {
    let db = TestDb::bare().await;
    let error = builder(db.pool()).build().unwrap().run(std::future::pending()).await.unwrap_err();
    assert!(matches!(error, RunError::NotMigrated), "{error:?}");
    assert!(error.to_string().contains("fairgate migrate"), "{error}");
}

#[tokio::test]
async fn a_ticker_whose_connections_are_killed_goes_on_with_new_ones() {
    let world = World::new(vec![open("p")]).await;
    let options: PgConnectOptions = world.db.url().parse().unwrap();
    let pool = PgPoolOptions::new().max_connections(3).connect_lazy_with(options.application_name("victim"));
    let settings = Settings { idle_pause: Duration::from_millis(20), ..Settings::default() };
    let (stop, stopping) = (Signal::new("stop"), Signal::new("stopping"));
    let running = run(builder(&pool).settings(settings).build().unwrap(), &stop, &stopping);
    for n in 1..=3 {
        world.stage("p", "a", 1).await;
        until_sql(world.pool(), &format!("SELECT count(*) = {n} FROM fairgate.in_flight")).await;
        let killed = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'victim' AND datname = current_database()";
        assert!(world.number(killed).await > 0);
    }
    world.stage("p", "a", 1).await;
    until_sql(world.pool(), "SELECT count(*) = 4 FROM fairgate.in_flight").await;
    stop.fire();
    tokio::time::timeout(PATIENCE, running).await.expect("it ends").unwrap().unwrap();
    world.audit().await;
}

#[tokio::test]
async fn staging_works_while_the_queues_schema_is_missing_and_its_jobs_go_when_it_appears() {
    let db = TestDb::without_queue().await;
    let mut world = World { ticker: ticker(db.pool(), vec![open("p")], Settings::default()).await, db };
    world.stage("p", "a", 3).await;
    assert_eq!(world.settle().await, 0);
    let status = fairgate::observe::status(&mut *world.conn().await).await.unwrap();
    let problem = status.policies[0].queue_problem.as_deref().unwrap_or_default();
    assert!(!status.policies[0].queue_ready && problem.contains("schema \"graphile_worker\""), "{status:?}");
    assert_eq!(status.policies[0].pending, 3);
    world.audit().await;

    WorkerUtils::new(world.pool(), "graphile_worker").migrate().await.unwrap();
    let (stop, stopping) = (Signal::new("stop"), Signal::new("stopping"));
    let running = run(builder(world.pool()).build().unwrap(), &stop, &stopping);
    until_sql(world.pool(), "SELECT count(*) = 3 FROM fairgate.in_flight").await;
    stop.fire();
    running.await.unwrap().unwrap();
    world.complete("a", 3).await;
    assert_eq!(world.in_flight().await, 0, "the hooks are installed, too");
    world.audit().await;
}

#[tokio::test]
async fn a_queue_whose_tables_do_not_fit_is_said_column_by_column_and_served_when_they_do() {
    let mut world = World::new(vec![open("p")]).await;
    world.execute("ALTER TABLE graphile_worker._private_jobs RENAME COLUMN priority TO urgency").await;
    world.execute("UPDATE fairgate.queue SET ready = false, not_ready_reason = 'to be looked at'").await;
    world.stage("p", "a", 1).await;
    let (stop, stopping) = (Signal::new("stop"), Signal::new("stopping"));
    let running = run(builder(world.pool()).build().unwrap(), &stop, &stopping);
    until_sql(world.pool(), "SELECT not_ready_reason LIKE '%_private_jobs.priority should be a column of type int2, it is not there%' FROM fairgate.queue").await;
    stop.fire();
    running.await.unwrap().unwrap();
    assert_eq!(world.settle().await, 0);
    world.execute("ALTER TABLE graphile_worker._private_jobs RENAME COLUMN urgency TO priority").await;
    let (stop, stopping) = (Signal::new("stop"), Signal::new("stopping"));
    let running = run(builder(world.pool()).build().unwrap(), &stop, &stopping);
    until_sql(world.pool(), "SELECT count(*) = 1 FROM fairgate.in_flight").await;
    stop.fire();
    running.await.unwrap().unwrap();
}
