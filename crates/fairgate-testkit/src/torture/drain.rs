//! The end of a run: everything goes on, limits are generous, and whatever waits must be done in time.

use std::time::{Duration, Instant};

use fairgate::NewJob;
use sqlx::PgPool;

use super::cast::Cast;
use super::companions::{pause, register};
use super::complaints::{Complaints, Fault, Trouble};
use super::policies::{NAMES, Rules, generous};
use super::stager::remember;
use super::worker::Work;

/// What is not done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
struct Left {
    staged: i64,
    reports: i64,
    queued: i64,
    slots: i64,
    counted: i64,
}

impl Left {
    const fn nothing(self) -> bool {
        self.staged == 0 && self.reports == 0 && self.queued == 0 && self.slots == 0 && self.counted == 0
    }
}

/// Newer than whatever the operator registered.
const LAST_REVISION: u32 = 1_000_000;

/// Lets every policy go on under limits that come from the contexts, and stages one more job with a generous context wherever jobs wait.
pub(super) async fn open(pool: &PgPool) -> Result<(), Trouble> {
    register(pool, &Rules::plain(), LAST_REVISION).await?;
    for policy in NAMES {
        pause(pool, policy, false).await?;
    }
    let mut tx = pool.begin().await?;
    let waiting: Vec<(String, String)> =
        sqlx::query_as(include_str!("../../queries/torture/waiting_partitions.sql"))
            .fetch_all(&mut *tx)
            .await?;
    for policy in NAMES {
        let keys = waiting.iter().filter(|(name, _)| name == policy);
        let jobs: Vec<NewJob> = keys.map(|(_, key)| last_job(key)).collect();
        let staged = fairgate::stage_many(&mut tx, policy, &jobs).await?;
        let ids: Vec<_> = staged.iter().map(|staged| staged.job_id).collect();
        remember(&mut tx, policy, &ids, &vec![None; ids.len()]).await?;
    }
    tx.commit().await?;
    Ok(())
}

fn last_job(key: &str) -> NewJob {
    let work = Work { takes: 1, failures: 0, beats: false };
    let job = NewJob::new("work").payload(&work).expect("numbers are JSON");
    job.context(&generous(key)).expect("an object")
}

/// From this time on, a person who watches is told what is left.
const LONG: Duration = Duration::from_secs(10);

/// Waits until nothing is left. Returns how long it took; what is left after `patience` is a problem.
pub(super) async fn wait(
    cast: &mut Cast,
    pool: &PgPool,
    patience: Duration,
    complaints: &Complaints,
) -> Duration {
    let began = Instant::now();
    let sql = include_str!("../../queries/torture/what_is_left.sql");
    let mut told = false;
    loop {
        cast.look_after();
        let left: Left = sqlx::query_as(sql).fetch_one(pool).await.expect("nobody ends sessions any more");
        let passed = began.elapsed();
        if left.nothing() {
            return passed;
        }
        if passed > patience {
            complaints.add(Fault::NotDone, describe(pool, left, passed).await);
            return passed;
        }
        if passed > LONG && !told {
            eprintln!("not done yet: {}", describe(pool, left, passed).await);
            told = true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn describe(pool: &PgPool, left: Left, passed: Duration) -> String {
    let sql = include_str!("../../queries/torture/why_it_waits.sql");
    let why: Vec<String> =
        sqlx::query_scalar(sql).fetch_all(pool).await.expect("nobody ends sessions any more");
    format!("{left:?} after {passed:?}\n    {}", why.join("\n    "))
}
