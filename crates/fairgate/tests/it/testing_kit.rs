//! The kit for tests of other programs: ticks by hand, a fake clock, a queue without workers.

use std::time::Duration;

use fairgate::guard::{End, Heart, Reported};
use fairgate::queue::Guarded;
use fairgate::testing::{FakeClock, JobState, TableQueue, TestJob};
use fairgate::{Policy, PolicyBuilder, Retry, Settings, Ticker};
use fairgate_core::fairness::weighted::Cost;
use fairgate_core::policy::FairnessBuilder;
use fairgate_testkit::TestDb;
use sqlx::PgPool;

use crate::wait::until;
use crate::world::{job, policy};

/// A database with a queue that is a table, and a ticker.
struct Kit {
    db: TestDb,
    queue: TableQueue,
    ticker: Ticker,
}

impl Kit {
    async fn new(policy: PolicyBuilder) -> Self {
        let db = TestDb::without_queue().await;
        let queue = TableQueue::create(db.pool(), "test_queue").await.expect("a queue");
        let ticker = ticker(db.pool(), queue.clone(), policy.build().expect("a policy")).await;
        Self { db, queue, ticker }
    }

    async fn stage(&self, count: usize) {
        let jobs: Vec<_> = (0..count).map(|_| job("a")).collect();
        let mut conn = self.db.connect().await;
        fairgate::stage_many(&mut conn, "p", &jobs).await.expect("staged");
    }

    async fn admitted(&mut self) -> u64 {
        self.ticker.tick_once(None).await.expect("a tick").ticks.jobs_admitted
    }

    async fn jobs(&self) -> Vec<TestJob> {
        self.queue.jobs().await.expect("the jobs")
    }

    async fn number(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(self.db.pool()).await.expect("a number")
    }

    async fn in_flight(&self) -> i64 {
        self.number("SELECT count(*) FROM fairgate.in_flight").await
    }

    async fn cap(&self) -> i64 {
        self.number(
            "SELECT (gates #>> '{adaptive_concurrency,cap}')::float8::bigint FROM fairgate.partitions",
        )
        .await
    }

    async fn audit(&self) {
        let mut conn = self.db.connect().await;
        assert_eq!(fairgate::doctor::audit(&mut conn).await.expect("an audit"), []);
    }
}

async fn ticker(pool: &PgPool, queue: impl fairgate::queue::Queue + 'static, policy: Policy) -> Ticker {
    let builder = Ticker::builder(pool.clone()).queue("main", queue).expect("a name").max_waiting(0);
    builder.policy(policy).register().await.expect("registered")
}

mod example {
    include!("testing_example.rs");

    #[tokio::test]
    async fn of_the_guide_holds() {
        let db = fairgate_testkit::TestDb::bare().await;
        an_account_has_two_deliveries_at_a_time_and_three_a_minute(db.pool().clone()).await.unwrap();
    }
}

#[test]
fn the_guide_shows_the_example_that_is_run() {
    let guide = include_str!("../../../../docs/testing.md");
    let shown = format!("```rust\n{}```\n", include_str!("testing_example.rs"));
    assert!(guide.contains(&shown), "docs/testing.md must hold tests/it/testing_example.rs word for word");
}

#[tokio::test]
async fn a_job_that_is_started_completed_killed_or_removed_is_seen_at_once() {
    let mut kit = Kit::new(policy("p").concurrency(|c| c.max(3.0))).await;
    kit.stage(6).await;
    assert_eq!(kit.admitted().await, 3);
    let jobs = kit.jobs().await;
    kit.queue.start(jobs[0].id).await.unwrap();
    assert_eq!(kit.number("SELECT count(*) FROM fairgate.in_flight WHERE started_at IS NOT NULL").await, 1);
    kit.queue.complete(jobs[0].id).await.unwrap();
    assert_eq!(kit.in_flight().await, 2);
    kit.queue.start(jobs[1].id).await.unwrap();
    kit.queue.kill(jobs[1].id, "no such host").await.unwrap();
    assert_eq!(kit.in_flight().await, 1);
    kit.queue.remove(jobs[2].id).await.unwrap();
    assert_eq!(kit.in_flight().await, 0);
    let left = kit.jobs().await;
    assert_eq!(left.len(), 1, "a dead job keeps its row");
    assert_eq!((left[0].state, left[0].last_error.as_deref()), (JobState::Dead, Some("no such host")));
    assert_eq!(kit.admitted().await, 3);
    // Revived by hand, it is a new admission.
    kit.queue.revive(left[0].id).await.unwrap();
    assert_eq!(kit.jobs().await.len(), 3);
    kit.audit().await;
}

#[tokio::test]
async fn a_failed_attempt_goes_back_into_staging_or_waits_in_the_queue_as_the_policy_says() {
    for (retry, staged) in [(Retry::Restage, 1), (Retry::Bypass, 0)] {
        let mut kit = Kit::new(policy("p").retry(retry).concurrency(|c| c.max(1.0))).await;
        kit.stage(1).await;
        assert_eq!(kit.admitted().await, 1);
        let id = kit.jobs().await[0].id;
        kit.queue.start(id).await.unwrap();
        kit.queue.fail(id, "timed out", Duration::from_secs(60)).await.unwrap();
        assert_eq!(kit.number("SELECT count(*) FROM fairgate.staged").await, staged);
        assert_eq!(kit.in_flight().await, 1 - staged, "a slot is held while the queue has the job");
        let mut clock = FakeClock::starting_now(kit.db.pool()).await.unwrap();
        assert_eq!(kit.ticker.tick_once(&clock).await.unwrap().ticks.jobs_admitted, 0);
        clock.advance(Duration::from_secs(61));
        let again = kit.ticker.tick_once(&clock).await.unwrap().ticks.jobs_admitted;
        assert_eq!(again, staged.unsigned_abs(), "its back-off is over");
        let attempt = kit.jobs().await.pop().unwrap();
        assert_eq!((attempt.attempts, attempt.last_error.as_deref()), (1, Some("timed out")));
        kit.audit().await;
    }
}

#[tokio::test]
async fn an_adaptive_cap_follows_the_lag_that_a_test_gives() {
    let mut kit =
        Kit::new(policy("p").adaptive_concurrency(|a| a.initial_max(4.0).target_lag_ms(1000.0))).await;
    kit.stage(100).await;
    for (lag, next) in [(10, 6), (10, 9), (9_000, 8)] {
        kit.admitted().await;
        for job in kit.jobs().await {
            kit.queue.start_with_lag(job.id, Duration::from_millis(lag)).await.unwrap();
            kit.queue.complete(job.id).await.unwrap();
        }
        assert_eq!(kit.admitted().await, next);
        assert_eq!(kit.cap().await, i64::try_from(next).unwrap());
        for job in kit.jobs().await {
            kit.queue.remove(job.id).await.unwrap();
        }
        // What is removed teaches nothing.
        kit.stage(20).await;
    }
    kit.audit().await;
}

#[tokio::test]
async fn the_worker_time_that_a_test_gives_is_what_fairness_by_time_charges() {
    let mut kit = Kit::new(policy("p").fairness(FairnessBuilder::weighted().cost(Cost::Time))).await;
    kit.stage(1).await;
    assert_eq!(kit.admitted().await, 1);
    let id = kit.jobs().await[0].id;
    kit.queue.start(id).await.unwrap();
    kit.queue.complete_after(id, Duration::from_secs(90)).await.unwrap();
    assert_eq!(kit.number("SELECT round(seconds)::bigint FROM fairgate.delta WHERE released = 1").await, 90);
}

#[tokio::test]
async fn a_sweep_by_hand_knows_the_table_and_goes_by_the_fake_clock() {
    let mut kit = Kit::new(policy("p").concurrency(|c| c.max(5.0))).await;
    kit.stage(2).await;
    assert_eq!(kit.admitted().await, 2);
    let mut clock = FakeClock::starting_now(kit.db.pool()).await.unwrap();
    let lose =
        "UPDATE test_queue.jobs SET admission_id = NULL WHERE id = (SELECT min(id) FROM test_queue.jobs)";
    sqlx::query(lose).execute(kit.db.pool()).await.unwrap();
    assert_eq!(kit.ticker.sweep_once(&clock).await.unwrap().gone, 0);
    clock.advance(Duration::from_secs(3601));
    assert_eq!(
        kit.ticker.sweep_once(&clock).await.unwrap().gone,
        1,
        "the other job still waits in the queue"
    );
}

#[tokio::test]
async fn what_a_job_cannot_do_is_refused_with_its_state() {
    let mut kit = Kit::new(policy("p")).await;
    kit.stage(1).await;
    assert_eq!(kit.admitted().await, 1);
    let id = kit.jobs().await[0].id;
    let early = kit.queue.complete(id).await.unwrap_err();
    assert_eq!(early.to_string(), format!("job {id} is waiting; a running job alone can be completed"));
    kit.queue.start(id).await.unwrap();
    let twice = kit.queue.start(id).await.unwrap_err();
    assert_eq!(twice.to_string(), format!("job {id} is running; a waiting job alone can be started"));
    kit.queue.complete(id).await.unwrap();
    let gone = kit.queue.fail(id, "late", Duration::ZERO).await.unwrap_err();
    assert_eq!(gone.to_string(), format!("job {id} is not in the queue; list those that are with jobs()"));
}

#[tokio::test]
async fn an_adaptive_policy_learns_lag_and_outcome_from_guards() {
    let db = TestDb::without_queue().await;
    let queue = TableQueue::create(db.pool(), "test_queue").await.unwrap().silent();
    let adaptive = || policy("p").adaptive_concurrency(|a| a.initial_max(4.0).target_lag_ms(60_000.0));
    let unseen = Ticker::builder(db.pool().clone()).queue("main", queue.clone()).unwrap();
    let refused = unseen.policy(adaptive().build().unwrap()).register().await.unwrap_err();
    assert!(refused.to_string().contains("started"), "a queue that shows nothing cannot feed it: {refused}");

    let served = ticker(db.pool(), Guarded::new(queue.clone()), adaptive().build().unwrap()).await;
    let mut kit = Kit { db, queue, ticker: served };
    kit.stage(100).await;
    assert_eq!(kit.admitted().await, 4);
    let heart = Heart::start(kit.db.url().parse().unwrap(), &Settings::default()).await.unwrap();
    let heart = heart.patience(Duration::from_secs(60));
    for job in kit.jobs().await {
        let guard = heart.guard(job.admission_id.unwrap()).await;
        let seen = "SELECT count(*) FROM fairgate.in_flight WHERE lag_ms >= 0 AND started_at IS NOT NULL";
        assert_eq!(kit.number(seen).await, 1, "the lag is known before the job runs");
        assert_eq!(guard.finish(End::Success).await, Reported::Done);
    }
    assert_eq!(kit.admitted().await, 6, "prompt starts and successes: half as many more");
    for job in kit.jobs().await.into_iter().skip(4) {
        drop(heart.guard(job.admission_id.unwrap()).await);
    }
    until("the failures are reported", || async { kit.in_flight().await == 0 }).await;
    kit.admitted().await;
    assert_eq!(kit.cap().await, 3, "failures: half");
    kit.audit().await;
}
