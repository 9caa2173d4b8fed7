//! Several tickers at once: limits hold at every admission, judged by triggers that share nothing with the gates.

use std::time::Duration;

use fairgate::Settings;
use sqlx::PgPool;

use crate::wait::until_sql;
use crate::world::{World, capped, open, policy, ticker};

/// At every admission, in its own transaction, the rows in flight of each partition are counted and held against the limit that they carry.
const JUDGE: &str = "
    CREATE TABLE public.violation (what text);
    CREATE FUNCTION public.judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.violation
        SELECT format('%s in flight, the limit is %s', count(*), min(l.most)) FROM fairgate.in_flight f
          JOIN (SELECT partition_id, min((limits ->> 'concurrency')::int) AS most FROM added GROUP BY 1) l USING (partition_id)
         GROUP BY partition_id HAVING count(*) > min(l.most);
        RETURN NULL; END $$;
    CREATE TRIGGER judge AFTER INSERT ON fairgate.in_flight REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.judge()";

/// Runs `count` tickers side by side until the query says that all is done.
async fn run_tickers(world: &World, count: usize, settings: &Settings, done: &str) {
    let (stop, _) = tokio::sync::broadcast::channel::<()>(1);
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..count {
        let one = ticker(world.pool(), vec![], settings.clone()).await;
        let mut stopped = stop.subscribe();
        running.spawn(one.run(async move { _ = stopped.recv().await }));
    }
    until_sql(world.pool(), done).await;
    stop.send(()).expect("they listen");
    while let Some(ended) = running.join_next().await {
        ended.expect("no panic").expect("a ticker that ran");
    }
}

/// The queue completes everything it has, again and again.
fn complete_for_ever(pool: PgPool) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        loop {
            let some = "DELETE FROM graphile_worker._private_jobs WHERE id IN
                          (SELECT id FROM graphile_worker._private_jobs ORDER BY id LIMIT 7 FOR UPDATE SKIP LOCKED)";
            sqlx::query(some).execute(&pool).await.expect("completed");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_tickers_together_never_exceed_a_cap() {
    let world = World::new(vec![capped("p", 3.0)]).await;
    world.execute(JUDGE).await;
    for n in 0..6 {
        world.stage("p", &format!("t{n}"), 40).await;
    }
    let completing = complete_for_ever(world.pool().clone());
    let settings =
        Settings { partition_batch_size: 3, idle_pause: Duration::from_millis(2), ..Settings::default() };
    run_tickers(&world, 3, &settings, "SELECT NOT EXISTS (SELECT FROM fairgate.staged)").await;
    completing.abort();
    assert_eq!(world.column("SELECT what FROM public.violation").await, [] as [&str; 0]);
    assert_eq!(world.number("SELECT sum(jobs_admitted) FROM fairgate.tick_samples").await, 240);
    world.audit().await;
}

#[tokio::test]
async fn the_judge_of_these_tests_sees_a_cap_exceeded() {
    let mut world = World::new(vec![capped("p", 3.0)]).await;
    world.execute(JUDGE).await;
    world.stage("p", "a", 10).await;
    world.settle().await;
    world.execute("UPDATE fairgate.partition_state SET in_flight = 1, due_at = now()").await;
    world.settle().await;
    assert_eq!(world.column("SELECT what FROM public.violation").await, ["5 in flight, the limit is 3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_tickers_together_never_exceed_a_rate_over_any_window() {
    let p = policy("p")
        .throttle(|t| t.rate(60.0).per(Duration::from_secs(1)).burst(4.0))
        .build()
        .expect("a policy");
    let world = World::new(vec![p]).await;
    world.stage("p", "a", 40).await;
    world.stage("p", "b", 40).await;
    let settings = Settings { idle_pause: Duration::from_millis(1), ..Settings::default() };
    run_tickers(&world, 3, &settings, "SELECT NOT EXISTS (SELECT FROM fairgate.staged)").await;
    // From every admission to every later one of the same partition, both included.
    let windows = "SELECT count(*) FROM (
        SELECT (SELECT count(*) FROM fairgate.in_flight x WHERE x.partition_id = a.partition_id AND x.admitted_at BETWEEN a.admitted_at AND b.admitted_at) AS jobs,
               4 + 60 * extract(epoch FROM b.admitted_at - a.admitted_at) AS most
          FROM fairgate.in_flight a JOIN fairgate.in_flight b ON b.partition_id = a.partition_id AND b.admitted_at >= a.admitted_at) w
         WHERE w.jobs > w.most";
    assert_eq!(world.number(windows).await, 0);
    assert_eq!(world.in_flight().await, 80);
    world.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_tickers_admit_each_job_once() {
    let world = World::new(vec![open("p"), capped("q", 1_000.0)]).await;
    for n in 0..30 {
        world.stage(if n % 2 == 0 { "p" } else { "q" }, &format!("t{n}"), 30).await;
    }
    let settings = Settings { partition_batch_size: 4, admission_batch_size: 7, ..Settings::default() };
    run_tickers(&world, 4, &settings, "SELECT NOT EXISTS (SELECT FROM fairgate.staged)").await;
    let jobs = "SELECT count(DISTINCT flags #>> '{fairgate,j}') FROM graphile_worker._private_jobs";
    assert_eq!((world.number(jobs).await, world.queue_length().await), (900, 900));
    world.audit().await;
}

#[tokio::test]
async fn a_slot_says_which_limits_were_in_force_when_it_was_given() {
    let p = policy("p")
        .concurrency(|c| c.named("wide").max(9.0))
        .concurrency(|c| c.named("narrow").max_from("max", 4.0));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    world.stage("p", "a", 5).await;
    world.settle().await;
    world.stage_with("p", "a", serde_json::json!({ "max": 5.9 })).await;
    world.settle().await;
    let limits = "SELECT limits ->> 'wide' || '/' || (limits ->> 'narrow') || ' x' || count(*) FROM fairgate.inflight GROUP BY limits ORDER BY 1";
    assert_eq!(world.column(limits).await, ["9/4 x4", "9/5 x1"]);
}
