//! The stagers: programs that stage and cancel jobs in their own transactions, and write down what they committed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate::{JobId, NewJob, Outcome};
use sqlx::{PgConnection, PgPool};

use super::complaints::{Complaints, Trouble};
use super::policies::{NAMES, context};
use super::random::Random;
use super::role::Stop;
use super::worker::Work;

/// Jobs that wait, as of a moment ago. Stagers rest while there are too many, so that what is left at the end can be done in time.
pub(super) type Backlog = AtomicI64;
const TOO_MANY: i64 = 2_000;
/// Committed jobs that a stager remembers, to cancel one now and then.
const REMEMBERED: usize = 60;

/// Stages until told to stop.
pub(super) async fn stage(
    pool: PgPool,
    mut random: Random,
    stop: Stop,
    backlog: &Backlog,
    complaints: &Complaints,
) {
    let mut recent = VecDeque::new();
    while !*stop.borrow() {
        if backlog.load(Ordering::Relaxed) > TOO_MANY {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        }
        let done = if random.chance(0.15) && !recent.is_empty() {
            let job = recent[random.below(recent.len())];
            cancel(&pool, job).await
        } else {
            stage_some(&pool, &mut random, &mut recent).await
        };
        complaints.hear("a stager", done);
        recent.drain(..recent.len().saturating_sub(REMEMBERED));
        tokio::time::sleep(random.millis(1, 25)).await;
    }
}

/// One to three stages in one transaction, keys in any order, held open now and then, and not always committed.
async fn stage_some(pool: &PgPool, random: &mut Random, recent: &mut VecDeque<JobId>) -> Result<(), Trouble> {
    let mut tx = pool.begin().await?;
    let mut staged = Vec::new();
    let mut keyed = false;
    for _ in 0..=random.below(3) {
        let policy = random.pick(&NAMES);
        let mut jobs: Vec<(NewJob, Option<DateTime<Utc>>)> =
            (0..=random.below(6)).map(|_| job(random)).collect();
        // One key in a transaction: two that take several keys singly, crosswise, would wait for each other, as for any unique key.
        if !std::mem::replace(&mut keyed, true) && random.chance(0.3) {
            let (first, at) = jobs.remove(0);
            jobs.insert(0, (first.dedupe_key(format!("key{}", random.below(40))), at));
        }
        staged.extend(stage_in(&mut tx, policy, jobs, random).await?);
        if random.chance(0.1) {
            tokio::time::sleep(random.millis(5, 200)).await;
        }
    }
    if random.chance(0.06) {
        tx.rollback().await?;
        return Ok(());
    }
    tx.commit().await?;
    recent.extend(staged);
    Ok(())
}

async fn stage_in(
    conn: &mut PgConnection,
    policy: &'static str,
    jobs: Vec<(NewJob, Option<DateTime<Utc>>)>,
    random: &mut Random,
) -> Result<Vec<JobId>, Trouble> {
    let (jobs, run_ats): (Vec<NewJob>, Vec<Option<DateTime<Utc>>>) = jobs.into_iter().unzip();
    let mut staged = Vec::with_capacity(jobs.len());
    if random.chance(0.5) {
        for job in &jobs {
            staged.push(fairgate::stage(&mut *conn, policy, job).await?);
        }
    } else {
        staged = fairgate::stage_many(&mut *conn, policy, &jobs).await?;
    }
    // One that was kept out by its key is somebody else's.
    let new = staged.iter().zip(run_ats).filter(|(staged, _)| staged.outcome == Outcome::Staged);
    let (ids, run_ats): (Vec<JobId>, Vec<_>) = new.map(|(staged, at)| (staged.job_id, at)).unzip();
    remember(conn, policy, &ids, &run_ats).await?;
    Ok(ids)
}

/// Writes jobs down in the transaction that stages them.
pub(super) async fn remember(
    conn: &mut PgConnection,
    policy: &str,
    ids: &[JobId],
    run_ats: &[Option<DateTime<Utc>>],
) -> Result<(), sqlx::Error> {
    sqlx::query(include_str!("../../queries/torture/remember_staged.sql"))
        .bind(ids.iter().map(JobId::as_uuid).collect::<Vec<_>>())
        .bind(policy)
        .bind(run_ats)
        .execute(conn)
        .await?;
    Ok(())
}

fn job(random: &mut Random) -> (NewJob, Option<DateTime<Utc>>) {
    let attempts = random.pick(&[1, 2, 2, 3]);
    let work = Work {
        takes: random.pick(&[0, 2, 5, 10, 30]),
        failures: if random.chance(0.12) { random.pick(&[1, 1, 9]) } else { 0 },
        beats: random.chance(0.3),
    };
    let at = random.chance(0.1).then(|| Utc::now() + random.millis(0, 2_500));
    let job = NewJob::new("work").payload(&work).expect("numbers are JSON");
    let job = job.context(&context(random)).expect("an object");
    let job = job.priority(random.pick(&[-5, 0, 0, 5])).max_attempts(attempts);
    // The database keeps microseconds.
    let at = at.map(|at| chrono::SubsecRound::trunc_subsecs(at, 6));
    (if let Some(at) = at { job.run_at(at) } else { job }, at)
}

async fn cancel(pool: &PgPool, job: JobId) -> Result<(), Trouble> {
    sqlx::query(include_str!("../../queries/torture/remember_cancelled.sql"))
        .bind(job.as_uuid())
        .execute(pool)
        .await?;
    Ok(())
}
