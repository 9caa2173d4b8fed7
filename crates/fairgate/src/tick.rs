//! One tick of one lane: claim -> plan -> admit -> settle -> commit. Read this first.
//!
//! Six round trips, whatever the number of partitions and jobs: begin, hold the policy open, claim, admit, settle, commit. Every decision is
//! [`fairgate_core::tick_plan`]'s; nothing is decided here. An error anywhere leaves everything as it was.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate_core::fairness::weighted::LaneAdvance;
use fairgate_core::policy::Fairness;
use fairgate_core::pressure;
use fairgate_core::report::TickReport;
use fairgate_core::tick_plan::{self, Lane, Limits};
use sqlx::{Connection, PgConnection};

use crate::admit::{Blame, Take, admit, blame};
use crate::claim::hold_policy_open;
use crate::error::{DatabaseError, Doing};
use crate::isolate::admit_isolated;
use crate::lane::{OpenLane, Rules};
use crate::scopes;
use crate::scopes::claim::{Attempt, claim};
use crate::settings::Settings;
use crate::settle::settle;

/// Why a tick was given up. Everything is as it was before it.
#[derive(Debug, thiserror::Error)]
pub enum TickError {
    /// The server or the connection failed; the next tick may work.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The queue's tables are not there, do not fit, or may not be written.
    #[error("the queue of policy \"{policy}\" cannot take jobs: {source}")]
    Queue {
        /// The policy.
        policy: String,
        /// The cause.
        #[source]
        source: DatabaseError,
    },
    /// The policy was applied anew since its rules were loaded.
    #[error("policy \"{policy}\" is at revision {found} now, revision {loaded} was loaded")]
    Outdated {
        /// The policy.
        policy: String,
        /// The revision that was loaded.
        loaded: i32,
        /// The revision that is in force.
        found: i32,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Batch,
    Isolate,
}

/// How a tick ended.
#[derive(Debug)]
pub(crate) enum Ticked {
    /// Nothing was due, or the policy is being paused or changed at this moment.
    Nothing,
    /// The queue holds as many jobs that no worker has begun as it may.
    QueueFull,
    /// The policy's own scope is used up, or other tickers hold the scopes that are needed. Look again after this, unless something happens earlier.
    Held(Duration),
    /// This was done, and this is to be added to the lane's virtual time.
    Done(TickReport, Option<LaneAdvance>),
}

/// Runs one tick of a lane. `sharers`: looks that share what room the queue has. `clock` replaces the database's clock, for tests.
pub(crate) async fn tick(
    conn: &mut PgConnection,
    rules: &Rules,
    lane: &OpenLane,
    sharers: u64,
    settings: &Settings,
    clock: Option<DateTime<Utc>>,
) -> Result<Ticked, TickError> {
    let span = tracing::debug_span!("tick", policy = %rules.policy.name(), shard = lane.shard_id);
    let whole = attempts(conn, rules, lane, sharers, settings, clock);
    tracing::Instrument::instrument(whole, span).await
}

/// The batch as a whole, and when the queue refuses it, in isolation.
async fn attempts(
    conn: &mut PgConnection,
    rules: &Rules,
    lane: &OpenLane,
    sharers: u64,
    settings: &Settings,
    clock: Option<DateTime<Utc>>,
) -> Result<Ticked, TickError> {
    match attempt(conn, rules, lane, sharers, settings, clock, Mode::Batch).await {
        Err(TickError::Database(error)) if blame(&error) == Blame::Job => {
            tracing::debug!(policy = %rules.policy.name(), error = %error, "the queue refused a batch; isolating");
            attempt(conn, rules, lane, sharers, settings, clock, Mode::Isolate).await
        }
        outcome => outcome,
    }
}

async fn attempt(
    conn: &mut PgConnection,
    rules: &Rules,
    lane: &OpenLane,
    sharers: u64,
    settings: &Settings,
    clock: Option<DateTime<Utc>>,
    mode: Mode,
) -> Result<Ticked, TickError> {
    let mut tx =
        conn.begin_with(include_str!("../queries/claim/begin.sql")).await.doing("beginning a tick")?;
    let limit = lane.waiting_limit();
    let (held, waiting) =
        hold_policy_open(&mut tx, rules.policy_id, rules.queue_id, limit.unwrap_or(0)).await?;
    let room = limit.map(|limit| pressure::share(limit, waiting, sharers));
    let weighted = matches!(rules.policy.fairness(), Fairness::Weighted { .. });
    // A look of a weighted policy without room for a batch is wasted: it would only spread what little there is by chance.
    let least = if weighted {
        let eighth = limit.unwrap_or(u64::MAX) / 8;
        u64::from(settings.partition_batch_size).min(eighth).max(1)
    } else {
        1
    };
    if held && limit.is_some_and(|limit| limit.saturating_sub(waiting) < least) {
        tx.rollback().await.doing("ending an empty tick")?;
        return Ok(Ticked::QueueFull);
    }
    let mut lane_now = Lane { state: crate::share::parse(&lane.share), totals: None };
    let attempt = match held {
        true => claim(&mut tx, rules, lane, settings.partition_batch_size, clock).await?,
        false => Attempt::Nothing,
    };
    let scoped = match attempt {
        Attempt::Claimed(scoped) => scoped,
        Attempt::Nothing => {
            tx.rollback().await.doing("ending an empty tick")?;
            return Ok(Ticked::Nothing);
        }
        Attempt::Held(wait) => {
            tx.rollback().await.doing("ending an empty tick")?;
            return Ok(Ticked::Held(wait));
        }
    };
    let claim = &scoped.claim;
    let policy = rules.policy.name().to_string();
    if claim.revision != rules.revision {
        return Err(TickError::Outdated { policy, loaded: rules.revision, found: claim.revision });
    }

    if weighted && lane_now.state.wants_totals(claim.ids.len(), settings.partition_batch_size as usize) {
        lane_now.totals = Some(crate::share::totals(&mut tx, lane.shard_id, claim.now).await?);
    }
    let plan = tick_plan::plan_scoped(
        &rules.policy,
        &claim.facts,
        scoped.scopes.as_ref().map(|scopes| scopes.facts.clone()),
        &limits(rules, settings, room),
        &lane_now,
        claim.now,
    );
    let charges = plan.charges().filter(|_| rules.learns_seconds());
    let takes: Vec<Take> = (claim.ids.iter().zip(&claim.facts).zip(&plan.looks).enumerate())
        .filter(|(_, (_, look))| look.take > 0)
        .map(|(at, ((&partition, facts), look))| Take {
            partition,
            key: facts.key.as_str().to_owned(),
            count: look.take,
            rank: look.rank,
            limits: look.limits.clone(),
            charged: charges.as_ref().and_then(|charges| charges.get(at).copied()),
            scopes: scoped.slots(at),
        })
        .collect();
    let (got, refused) = match (takes.is_empty(), mode) {
        (true, _) => Default::default(),
        (false, Mode::Batch) => (
            admit(&mut tx, rules, &takes, None, room.is_some(), claim.now)
                .await
                .map_err(|e| queue_error(&policy, e))?,
            0,
        ),
        (false, Mode::Isolate) => {
            let attempts = settings.max_forward_attempts;
            let done = admit_isolated(&mut tx, rules, takes, room.is_some(), claim.now, clock, attempts)
                .await
                .map_err(|e| queue_error(&policy, e))?;
            (done.taken, done.refused)
        }
    };
    let taken: Vec<u32> = claim.ids.iter().map(|id| got.get(id).copied().unwrap_or(0)).collect();
    let mut report = TickReport::of(&plan, &taken);
    report.failures = u64::from(refused);
    let mut settlements = plan.settle(&taken);
    let placed = plan.settle_scopes(&taken, &mut settlements);
    let (ids, counts, settlements) = placed.written(&claim.ids, &taken, settlements);
    settle(&mut tx, lane.shard_id, &ids, &counts, &settlements, &report, claim.now).await?;
    scopes::settle::settle(&mut tx, rules, &scoped, &placed).await?;
    tx.commit().await.doing("committing a tick")?;
    Ok(Ticked::Done(report, plan.advance(&taken)))
}

pub(crate) fn limits(rules: &Rules, settings: &Settings, room: Option<u64>) -> Limits {
    rules.policy.settings().resolve(&Limits {
        admission_batch_size: settings.admission_batch_size,
        tick_admission_budget: settings.tick_admission_budget,
        half_life: settings.fairness_half_life.duration(),
        queue_room: room.map(|jobs| u32::try_from(jobs).unwrap_or(u32::MAX)),
    })
}

pub(crate) fn queue_error(policy: &str, error: DatabaseError) -> TickError {
    match blame(&error) {
        Blame::Queue => TickError::Queue { policy: policy.to_owned(), source: error },
        Blame::Job | Blame::Server => TickError::Database(error),
    }
}
