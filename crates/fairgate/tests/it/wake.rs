//! Sleeping and waking: by a notification, by the clock, or by polling. Pauses are so long here that a test which waited one out would fail.

use std::time::Duration;

use fairgate::operate::{pause, resume, set_enabled};
use fairgate::{Settings, Ticker};
use fairgate_testkit::Signal;
use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::task::JoinHandle;

use crate::wait::until_sql;
use crate::world::{World, capped, job, name, open, policy, ticker};

const ASLEEP: &str = "SELECT EXISTS (SELECT FROM fairgate.ticker WHERE asleep)";

fn lazy() -> Settings {
    Settings { idle_pause: Duration::from_secs(60), ..Settings::default() }
}

/// A ticker that runs until its signal is fired.
struct Running {
    stop: Signal,
    work: JoinHandle<Result<(), fairgate::ticker::RunError>>,
}

impl Running {
    fn start(ticker: Ticker) -> Self {
        let stop = Signal::new("stop");
        let stopped = stop.clone();
        Self {
            stop,
            work: tokio::spawn(ticker.run(async move { stopped.wait_within(Duration::MAX, 1).await })),
        }
    }

    /// One that has gone to sleep.
    async fn asleep(world: &World, settings: Settings) -> Self {
        let running = Self::start(ticker(world.pool(), vec![], settings).await);
        until_sql(world.pool(), ASLEEP).await;
        running
    }

    async fn end(self) {
        self.stop.fire();
        let ended = tokio::time::timeout(Duration::from_secs(20), self.work).await;
        ended.expect("it ends when told").expect("no panic").expect("a ticker that ran");
    }
}

async fn until_in_flight(pool: &PgPool, count: i64) {
    until_sql(pool, &format!("SELECT count(*) = {count} FROM fairgate.in_flight")).await;
}

#[tokio::test]
async fn a_sleeping_ticker_wakes_when_a_job_is_staged() {
    let world = World::new(vec![open("p")]).await;
    let running = Running::asleep(&world, lazy()).await;
    for n in 1..=3 {
        until_sql(world.pool(), ASLEEP).await;
        if n % 2 == 0 {
            fairgate::stage(&mut *world.conn().await, "p", &job("a")).await.unwrap();
        } else {
            world.stage("p", "b", 1).await;
        }
        until_in_flight(world.pool(), n).await;
    }
    running.end().await;
    assert_eq!(world.number("SELECT count(*) FROM fairgate.ticker").await, 0, "it takes its row away");
}

#[tokio::test]
async fn a_sleeping_ticker_wakes_when_a_job_finishes_that_another_waits_for() {
    let p = policy("p")
        .concurrency(|c| c.max(1.0).full_backoff(Duration::from_secs(3_600)))
        .build()
        .expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 2).await;
    assert_eq!(world.settle().await, 1);
    let running = Running::asleep(&world, lazy()).await;
    world.complete("a", 1).await;
    until_sql(world.pool(), "SELECT NOT EXISTS (SELECT FROM fairgate.staged)").await;
    running.end().await;
    world.audit().await;
}

#[tokio::test]
async fn a_sleeping_ticker_wakes_when_it_is_resumed_or_enabled() {
    let world = World::new(vec![open("p")]).await;
    pause(&mut *world.conn().await, &name("p")).await.unwrap();
    world.stage("p", "a", 1).await;
    let running = Running::asleep(&world, lazy()).await;
    resume(&mut *world.conn().await, &name("p")).await.unwrap();
    until_in_flight(world.pool(), 1).await;
    world.stage("p", "a", 1).await;
    until_in_flight(world.pool(), 2).await;
    set_enabled(&mut *world.conn().await, false).await.unwrap();
    world.execute("SELECT fairgate.stage('p', 'work', '{}', '{\"tenant\": \"a\"}')").await;
    set_enabled(&mut *world.conn().await, true).await.unwrap();
    world.stage("p", "a", 1).await;
    until_in_flight(world.pool(), 3).await;
    running.end().await;
}

#[tokio::test]
async fn a_sleeping_ticker_wakes_at_the_instant_a_scheduled_job_comes_due() {
    for notifications in [true, false] {
        let world = World::new(vec![open("p")]).await;
        let run_at = world.after_ms(400).await;
        world.stage_jobs("p", &[job("a").run_at(run_at)]).await;
        let running =
            Running::start(ticker(world.pool(), vec![], Settings { notifications, ..lazy() }).await);
        until_in_flight(world.pool(), 1).await;
        let early = format!("SELECT count(*) FROM fairgate.in_flight WHERE admitted_at < '{run_at}'");
        assert_eq!(world.number(&early).await, 0);
        running.end().await;
    }
}

#[tokio::test]
async fn a_sleeping_ticker_wakes_at_the_instant_a_gate_lets_something_go() {
    let p = policy("p")
        .throttle(|t| t.rate(3.0).per(Duration::from_secs(1)).burst(1.0))
        .build()
        .expect("a policy");
    let world = World::new(vec![p]).await;
    world.stage("p", "a", 3).await;
    let running =
        Running::start(ticker(world.pool(), vec![], Settings { notifications: false, ..lazy() }).await);
    until_in_flight(world.pool(), 3).await;
    running.end().await;
}

#[tokio::test]
async fn without_notifications_polling_finds_everything() {
    for how in [Settings { notifications: false, ..lazy() }, Settings { pooled: true, ..lazy() }] {
        let world = World::new(vec![capped("p", 1.0)]).await;
        let settings = Settings { idle_pause: Duration::from_millis(20), ..how };
        let running = Running::start(ticker(world.pool(), vec![], settings).await);
        until_sql(world.pool(), "SELECT EXISTS (SELECT FROM fairgate.ticker)").await;
        world.stage("p", "a", 2).await;
        until_in_flight(world.pool(), 1).await;
        assert_eq!(
            world.number("SELECT count(*) FROM fairgate.ticker WHERE asleep").await,
            0,
            "nobody is told to notify"
        );
        world.complete("a", 1).await;
        until_sql(world.pool(), "SELECT NOT EXISTS (SELECT FROM fairgate.staged)").await;
        running.end().await;
    }
}

#[tokio::test]
async fn a_ticker_listens_before_it_says_that_it_sleeps() {
    let world = World::new(vec![open("p")]).await;
    // Between the two a notification would be lost, and the job behind it would wait for a whole pause.
    world
        .execute(
            "CREATE TABLE public.deaf AS SELECT 1 AS n WHERE false;
             CREATE FUNCTION public.look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               INSERT INTO public.deaf SELECT 1 WHERE NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%');
               RETURN NULL; END $$;
             CREATE TRIGGER look AFTER INSERT OR UPDATE ON fairgate.ticker FOR EACH ROW WHEN (NEW.asleep) EXECUTE FUNCTION public.look()",
        )
        .await;
    Running::asleep(&world, lazy()).await.end().await;
    assert_eq!(world.number("SELECT count(*) FROM public.deaf").await, 0);
}

#[tokio::test]
async fn staging_notifies_only_while_somebody_sleeps_and_the_partition_looks_parked() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    let mut listener = PgListener::connect_with(world.pool()).await.unwrap();
    listener.listen("fairgate").await.unwrap();
    let sleeper = "INSERT INTO fairgate.ticker (id, serves, asleep) VALUES (gen_random_uuid(), 'x', true)";
    let notify = "NOTIFY fairgate, 'mark'";
    let mut heard = Vec::new();
    for step in ["nobody sleeps", "asleep", "due already", "paused"] {
        match step {
            "asleep" => _ = world.execute(sleeper).await,
            "due already" => _ = world.settle().await,
            "paused" => _ = pause(&mut *world.conn().await, &name("p")).await.unwrap(),
            _ => {}
        }
        world.execute("NOTIFY fairgate, 'begin'").await;
        fairgate::stage(&mut *world.conn().await, "p", &job(if step == "paused" { "new" } else { "a" }))
            .await
            .unwrap();
        world.execute(notify).await;
        let mut between = None;
        loop {
            match (listener.recv().await.unwrap().payload(), &mut between) {
                ("begin", count) => *count = Some(0),
                ("mark", Some(count)) => break heard.push((step, *count)),
                (_, Some(count)) => *count += 1,
                (_, None) => {}
            }
        }
    }
    assert_eq!(heard, [("nobody sleeps", 0), ("asleep", 1), ("due already", 0), ("paused", 0)]);
}

#[tokio::test]
async fn a_pooled_ticker_leaves_neither_prepared_statements_nor_settings_on_its_connection() {
    let world = World::new(vec![capped("p", 1.0)]).await;
    let one = PgPoolOptions::new().max_connections(1).connect(world.db.url()).await.unwrap();
    let settings = Settings {
        pooled: true,
        idle_pause: Duration::from_millis(5),
        sweep_every: Duration::from_millis(10),
        ..Settings::default()
    };
    let running = Running::start(ticker(&one, vec![], settings).await);
    world.stage("p", "a", 2).await;
    until_in_flight(world.pool(), 1).await;
    world.complete("a", 1).await;
    until_sql(world.pool(), "SELECT NOT EXISTS (SELECT FROM fairgate.staged)").await;
    running.end().await;
    let left: Vec<String> = sqlx::query_scalar(
        "SELECT statement FROM pg_prepared_statements WHERE statement NOT LIKE '%pg_prepared_statements%'",
    )
    .fetch_all(&one)
    .await
    .unwrap();
    assert_eq!(left, [] as [&str; 0]);
    let set = "SELECT name || ' = ' || setting FROM pg_settings WHERE source = 'session' AND name NOT IN ('client_encoding', 'DateStyle', 'TimeZone',
                 'IntervalStyle', 'extra_float_digits', 'application_name')";
    let left: Vec<String> = sqlx::query_scalar(set).fetch_all(&one).await.unwrap();
    assert_eq!(left, [] as [&str; 0]);
}
