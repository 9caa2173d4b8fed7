use std::error::Error;
use std::time::Duration;

use fairgate::testing::{FakeClock, JobState, TableQueue};
use fairgate::{NewJob, Policy, Ticker};
use serde_json::json;
use sqlx::PgPool;

/// `pool`: of an empty database that belongs to this test.
async fn an_account_has_two_deliveries_at_a_time_and_three_a_minute(
    pool: PgPool,
) -> Result<(), Box<dyn Error>> {
    fairgate::migrate(&mut *pool.acquire().await?).await?;
    let queue = TableQueue::create(&pool, "test_queue").await?;
    let policy = Policy::builder("deliveries")
        .queue("main")
        .partition_by("account_id")
        .throttle(|t| t.rate(3.0).per(Duration::from_secs(60)))
        .concurrency(|c| c.max(2.0))
        .build()?;
    let mut ticker =
        Ticker::builder(pool.clone()).queue("main", queue.clone())?.policy(policy).register().await?;
    let mut clock = FakeClock::starting_now(&pool).await?;

    // What the program under test does: it stages, here five jobs of one account.
    for n in 0..5 {
        let job = NewJob::new("deliver").payload(&json!({ "n": n }))?.context(&json!({ "account_id": 7 }))?;
        fairgate::stage(&mut *pool.acquire().await?, "deliveries", &job).await?;
    }

    // Two at a time.
    assert_eq!(ticker.tick_once(&clock).await?.ticks.jobs_admitted, 2);
    let jobs = queue.jobs().await?;
    assert_eq!((jobs[0].partition_key.as_str(), &jobs[0].payload), ("7", &json!({ "n": 0 })));
    assert_eq!(jobs[0].state, JobState::Waiting);

    // The first succeeds, and makes room for the third, which is the last of this minute.
    queue.start(jobs[0].id).await?;
    queue.complete(jobs[0].id).await?;
    assert_eq!(ticker.tick_once(&clock).await?.ticks.jobs_admitted, 1);

    // The second is given up. There is room, but no token before a third of a minute has passed.
    queue.start(jobs[1].id).await?;
    queue.kill(jobs[1].id, "410 Gone").await?;
    assert_eq!(ticker.tick_once(&clock).await?.ticks.jobs_admitted, 0);
    clock.advance(Duration::from_secs(20));
    assert_eq!(ticker.tick_once(&clock).await?.ticks.jobs_admitted, 1);
    Ok(())
}
