//! A small torture of a queue that shows nothing: its workers hold guards, die without a word and lose their connections; no limit is broken meanwhile,
//! and in the end no slot is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fairgate::guard::{End, Heart};
use fairgate::queue::Guarded;
use fairgate::testing::TableQueue;
use fairgate::{AdmissionId, NewJob, Policy, Settings, Ticker};
use fairgate_testkit::TestDb;
use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use uuid::Uuid;

const TENANTS: u64 = 6;
const JOBS: u64 = 900;
const WORKERS: u64 = 4;
/// How long everything may take to come to rest.
const PATIENCE: Duration = Duration::from_secs(120);

/// Looks at every admission in its own transaction, in SQL of its own.
const WATCH: &str = "
    ALTER TABLE shown_nothing.jobs ADD COLUMN taken_by bigint;
    CREATE TABLE public.broken (partition_id uuid, held bigint, most float8);
    CREATE TABLE public.ended (job_id uuid);
    CREATE FUNCTION public.watch() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE held bigint; most float8 := (NEW.limits::jsonb ->> 'concurrency')::float8;
    BEGIN
        SELECT count(*) INTO held FROM fairgate.in_flight f WHERE f.partition_id = NEW.partition_id;
        IF most IS NULL OR held > most THEN INSERT INTO public.broken VALUES (NEW.partition_id, held, most); END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER watch AFTER INSERT ON fairgate.in_flight FOR EACH ROW EXECUTE FUNCTION public.watch()";

const TAKE: &str = "UPDATE shown_nothing.jobs j SET state = 'running', attempts = attempts + 1, taken_by = $1
     WHERE j.id = (SELECT w.id FROM shown_nothing.jobs w WHERE w.state = 'waiting' ORDER BY w.id LIMIT 1 FOR UPDATE SKIP LOCKED)
 RETURNING j.id, j.admission_id, j.job_id";
const END: &str = "WITH gone AS (DELETE FROM shown_nothing.jobs WHERE id = $1 RETURNING job_id) INSERT INTO public.ended SELECT job_id FROM gone";
const FREE_MINE: &str = "UPDATE shown_nothing.jobs SET state = 'waiting', taken_by = NULL WHERE taken_by = $1 AND state = 'running'";

fn settings() -> Settings {
    Settings {
        heartbeat_interval: Duration::from_millis(100),
        inflight_stale_after: Duration::from_secs(2),
        sweep_every: Duration::from_millis(200),
        ..Settings::default()
    }
}

/// Numbers that a seed decides (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// One life of a worker: it runs jobs under guards until it is struck dead, which nobody is told.
async fn live(url: &str, number: u64, dice: &mut Dice) -> Result<(), Box<dyn std::error::Error>> {
    let options: PgConnectOptions = url.parse()?;
    let pool = PgPoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
    sqlx::query(FREE_MINE).bind(number.cast_signed()).execute(&pool).await?;
    let heart = Heart::start(options, &settings()).await?;
    loop {
        let taken: Option<(i64, Uuid, Uuid)> =
            sqlx::query_as(TAKE).bind(number.cast_signed()).fetch_optional(&pool).await?;
        let Some((id, admission, _)) = taken else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        let guard = heart.guard(AdmissionId::from_uuid(admission)).await;
        let (kind, takes) = (dice.below(8), Duration::from_millis(dice.below(8)));
        let work = async {
            tokio::time::sleep(takes).await;
            sqlx::query(END).bind(id).execute(&pool).await
        };
        match kind {
            0 => {
                work.await?;
                drop(guard);
            }
            1 => {
                work.await?;
                guard.finish(End::Ignored).await;
            }
            _ => {
                guard.run(work).await?;
            }
        }
    }
}

/// Lives and dies until told to stop; returns how often it died.
fn worker(url: &str, number: u64, stop: &AtomicBool) -> u64 {
    let mut dice = Dice(0x9E37_79B9 + number);
    let mut deaths = 0;
    while !stop.load(Ordering::Relaxed) {
        let process = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let span = Duration::from_millis(300 + dice.below(900));
        // What is dropped here finds its heart no longer beating.
        let lived =
            process.block_on(async { tokio::time::timeout(span, live(url, number, &mut dice)).await });
        match lived {
            Err(_) => deaths += 1,
            Ok(ended) => eprintln!("worker {number}: {ended:?}"),
        }
        process.shutdown_background();
    }
    deaths
}

async fn number(pool: &PgPool, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(pool).await.expect("a number")
}

async fn stage(pool: &PgPool) {
    for batch in 0..JOBS / 30 {
        let job = |n: u64| {
            let context =
                json!({ "tenant": format!("t{}", (batch + n) % TENANTS), "max": 1 + (batch + n) % 4 });
            NewJob::new("work").context(&context).expect("a context")
        };
        let jobs: Vec<NewJob> = (0..30).map(job).collect();
        fairgate::stage_many(&mut pool.acquire().await.expect("a connection"), "p", &jobs)
            .await
            .expect("staged");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_that_hold_guards_and_die_break_no_limit_and_leave_no_slot() {
    let db = TestDb::without_queue().await;
    let queue = TableQueue::create(db.pool(), "shown_nothing").await.expect("a queue").silent();
    sqlx::raw_sql(WATCH).execute(db.pool()).await.expect("a watch");
    let policy = Policy::builder("p").queue("main").partition_by("tenant");
    let policy = policy
        .concurrency(|c| c.max_from("max", 2.0))
        .adaptive_concurrency(|a| a.initial_max(4.0).target_lag_ms(500.0))
        .build()
        .expect("a policy");
    let (told, _) = tokio::sync::watch::channel(false);
    let mut tickers = Vec::new();
    for _ in 0..2 {
        let builder =
            Ticker::builder(db.pool().clone()).queue("main", Guarded::new(queue.clone())).expect("a name");
        let ticker =
            builder.settings(settings()).policy(policy.clone()).register().await.expect("registered");
        let mut stop = told.subscribe();
        tickers.push(tokio::spawn(ticker.run(async move { _ = stop.wait_for(|stop| *stop).await })));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = (0..WORKERS)
        .map(|number| {
            let (url, stop) = (db.url().to_owned(), stop.clone());
            std::thread::spawn(move || worker(&url, number, &stop))
        })
        .collect();
    stage(db.pool()).await;

    let cut = AtomicU64::new(0);
    let rest = "SELECT (SELECT count(*) FROM fairgate.staged) + (SELECT count(*) FROM fairgate.in_flight) + (SELECT count(*) FROM shown_nothing.jobs)";
    let cut_one = "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
         WHERE application_name = 'fairgate guard' AND datname = current_database() ORDER BY random() LIMIT 1) x";
    let began = Instant::now();
    while number(db.pool(), rest).await > 0 {
        assert!(began.elapsed() < PATIENCE, "{} are left", number(db.pool(), rest).await);
        cut.fetch_add(number(db.pool(), cut_one).await.unsigned_abs(), Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    stop.store(true, Ordering::Relaxed);
    told.send_replace(true);
    let deaths: u64 = workers.into_iter().map(|worker| worker.join().expect("no panic")).sum();
    for ticker in tickers {
        ticker.await.expect("no panic").expect("it ran");
    }
    let mut conn = db.connect().await;
    fairgate::absorb::absorb(&mut conn, None).await.expect("absorbed");
    assert_eq!(fairgate::doctor::audit(&mut conn).await.expect("an audit"), []);
    assert_eq!(number(db.pool(), "SELECT count(*) FROM public.broken").await, 0, "a limit was broken");
    let ended = number(db.pool(), "SELECT count(DISTINCT job_id) FROM public.ended").await;
    assert_eq!(ended.unsigned_abs(), JOBS, "every job ended");
    assert!(deaths > 0 && cut.load(Ordering::Relaxed) > 0, "{deaths} deaths, {cut:?} connections cut");
}
