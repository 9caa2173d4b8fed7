//! The other participants: an operator, those who hold slots while they beat, an auditor, and one who tidies up behind dead workers.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fairgate::force::{self, ForceError, Means};
use fairgate::operate::OperateError;
use fairgate::overrides::{self, NewOverride, OverrideError};
use fairgate::registry::{Options, Source, apply};
use fairgate::{PolicyName, doctor, operate};
use sqlx::PgPool;

use super::cast::Living;
use super::complaints::{Complaints, Fault, Trouble};
use super::policies::{NAMES, Rules, hot, queue};
use super::random::Random;
use super::role::Stop;
use super::stager::Backlog;

/// Applies new limits, overrides them, forces admissions, pauses and resumes until told to stop. Returns how often it changed limits, how often it paused, and the
/// longest time that one of these had to wait for the ticks.
pub(super) async fn operate(
    pool: PgPool,
    mut random: Random,
    stop: Stop,
    complaints: &Complaints,
) -> (u64, u64, Duration) {
    let (mut changes, mut pauses, mut longest) = (0, 0, Duration::ZERO);
    // The first definitions are revision 1.
    let mut revision = 1;
    while !*stop.borrow() {
        tokio::time::sleep(random.millis(20, 400)).await;
        let began = Instant::now();
        if random.chance(0.2) {
            let done = force_one(&pool, &mut random).await;
            complaints.hear("the operator", done);
        } else if random.chance(0.5) {
            let done = override_one(&pool, &mut random).await;
            changes += u64::from(complaints.hear("the operator", done).is_some());
            longest = longest.max(began.elapsed());
        } else if random.chance(0.5) {
            revision += 1;
            let done = register(&pool, &Rules::drawn(&mut random), revision).await;
            changes += u64::from(complaints.hear("the operator", done).is_some());
            longest = longest.max(began.elapsed());
        } else {
            let policy = random.pick(&NAMES);
            let done = pause(&pool, policy, true).await;
            longest = longest.max(began.elapsed());
            pauses += u64::from(complaints.hear("the operator", done).is_some());
            tokio::time::sleep(random.millis(0, 300)).await;
            let done = pause(&pool, policy, false).await;
            complaints.hear("the operator", done);
        }
    }
    (changes, pauses, longest)
}

/// Registers the policies with these rules.
pub(super) async fn register(pool: &PgPool, rules: &Rules, revision: u32) -> Result<(), Trouble> {
    let options = Options { source: Source::Code, revision: Some(revision), hooks: true, go_back: false };
    apply(&mut *pool.acquire().await?, &[queue()], &rules.policies(), options).await?;
    Ok(())
}

/// Overrides a limit of a tenant for a moment, or ends what is overridden.
async fn override_one(pool: &PgPool, random: &mut Random) -> Result<(), Trouble> {
    let (policy, target) = random.pick(&[
        (NAMES[0], "concurrency.max"),
        (NAMES[1], "slots.max"),
        (NAMES[1], "pace.rate"),
        (NAMES[1], "pace.burst"),
    ]);
    let (name, partition) = (policy.parse()?, hot(policy, random).parse()?);
    let mut conn = pool.acquire().await?;
    if random.chance(0.15) {
        overrides::clear(&mut conn, &name, &partition, None).await?;
        return Ok(());
    }
    let new = NewOverride {
        target: target.parse()?,
        value: random.pick(&[0.0, 1.0, 4.0, 30.0]),
        lasts: random.millis(5, 1_500),
        reason: "torture".to_owned(),
        who: None,
    };
    match overrides::make(&mut conn, &name, &partition, &new).await {
        // Its first job is still to come.
        Err(OverrideError::Operate(OperateError::UnknownPartition { .. })) => Ok(()),
        done => Ok(done.map(drop)?),
    }
}

/// Lets some jobs of a tenant go past all gates.
async fn force_one(pool: &PgPool, random: &mut Random) -> Result<(), Trouble> {
    let policy = random.pick(&NAMES);
    let (name, partition) = (policy.parse()?, hot(policy, random).parse()?);
    let count = random.pick(&[1, 3, 10]);
    let mut conn = pool.acquire().await?;
    match force::admit(&mut conn, &Means::default(), &name, &partition, count).await {
        // Its first job is still to come.
        Err(ForceError::Operate(OperateError::UnknownPartition { .. })) => Ok(()),
        done => Ok(done.map(drop)?),
    }
}

/// Pauses a policy or lets it go on.
pub(super) async fn pause(pool: &PgPool, policy: &str, paused: bool) -> Result<(), Trouble> {
    let name: PolicyName = policy.parse()?;
    let mut conn = pool.acquire().await?;
    if paused {
        operate::pause(&mut conn, &name).await?;
    } else {
        operate::resume(&mut conn, &name).await?;
    }
    Ok(())
}

/// Beats for admissions in transactions that stay open for a moment, so that finishers meet locked rows.
pub(super) async fn hold_slots(pool: PgPool, mut random: Random, stop: Stop, complaints: &Complaints) {
    while !*stop.borrow() {
        complaints.hear("a beating holder", hold_one(&pool, &mut random).await);
        tokio::time::sleep(random.millis(0, 3)).await;
    }
}

async fn hold_one(pool: &PgPool, random: &mut Random) -> Result<(), Trouble> {
    let mut tx = pool.begin().await?;
    sqlx::query(include_str!("../../queries/torture/hold_a_slot.sql"))
        .bind(random.unit())
        .execute(&mut *tx)
        .await?;
    tokio::time::sleep(random.millis(0, 20)).await;
    tx.commit().await?;
    Ok(())
}

/// Compares counters with rows, in one snapshot after the other. Returns how often.
pub(super) async fn audit(pool: PgPool, stop: Stop, complaints: &Complaints) -> u64 {
    let mut audits = 0;
    while !*stop.borrow() {
        audits += u64::from(complaints.hear("the auditor", audit_once(&pool, complaints).await).is_some());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    audits
}

/// One comparison.
pub(super) async fn audit_once(pool: &PgPool, complaints: &Complaints) -> Result<(), Trouble> {
    for wrong in doctor::audit(&mut *pool.acquire().await?).await? {
        complaints.add(Fault::CountersDisagree, format!("{wrong:?}"));
    }
    Ok(())
}

/// Frees the queue's locks of dead workers, hurries retries, and looks how much waits, until told to stop.
pub(super) async fn tidy(
    pool: PgPool,
    living: Living,
    stop: Stop,
    backlog: &Backlog,
    complaints: &Complaints,
) {
    while !*stop.borrow() {
        let names = living.lock().expect("nobody panics with this lock").clone();
        if let Some(waiting) = complaints.hear("the janitor", tidy_once(&pool, &names).await) {
            backlog.store(waiting, Ordering::Relaxed);
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
}

async fn tidy_once(pool: &PgPool, living: &[String]) -> Result<i64, Trouble> {
    sqlx::query(include_str!("../../queries/torture/free_dead_workers.sql"))
        .bind(living)
        .execute(pool)
        .await?;
    sqlx::query(include_str!("../../queries/torture/hurry_retries.sql")).execute(pool).await?;
    let waiting = include_str!("../../queries/torture/waiting_jobs.sql");
    Ok(sqlx::query_scalar(waiting).fetch_one(pool).await?)
}
