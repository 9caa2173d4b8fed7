use std::collections::{HashMap, VecDeque};

use fairgate_core::report::TickReport;
use fairgate_core::tick_plan::{self, Due};
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::{ForceError, Means, Wanted};
use crate::admit::{Blame, Take, blame};
use crate::claim::{Claim, gather};
use crate::error::{DatabaseError, Doing};
use crate::isolate::admit_isolated;
use crate::lane::Rules;
use crate::scopes;
use crate::settle::settle;
use crate::sql::{query, query_as};
use crate::tick::{TickError, limits, queue_error};

/// Jobs of one transaction.
const BATCH_JOBS: i64 = 1_000;

/// What one batch did.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) taken: HashMap<Uuid, u32>,
    pub(super) refused: u32,
}

pub(super) enum BatchError {
    Tick(TickError),
    Force(ForceError),
}

impl From<DatabaseError> for BatchError {
    fn from(error: DatabaseError) -> Self {
        Self::Tick(error.into())
    }
}

impl From<BatchError> for ForceError {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Force(error) => error,
            BatchError::Tick(TickError::Database(error)) => error.into(),
            BatchError::Tick(other) => Self::Rules(other.to_string()),
        }
    }
}

/// The first partitions of one lane, with as many of their jobs as go in one transaction.
pub(super) fn next(wanted: &VecDeque<Wanted>, partitions: u32) -> Vec<Wanted> {
    let mut room = BATCH_JOBS;
    let mut batch = Vec::new();
    for one in wanted.iter().take(usize::try_from(partitions.max(1)).unwrap_or(usize::MAX)) {
        if room == 0 || one.shard_id != wanted[0].shard_id {
            break;
        }
        let jobs = one.jobs.min(room);
        room -= jobs;
        batch.push(Wanted { jobs, ..*one });
    }
    batch
}

/// One transaction: as a tick, but of these partitions, and of as many jobs as asked.
pub(super) async fn admit(
    conn: &mut PgConnection,
    means: &Means,
    rules: &Rules,
    batch: &[Wanted],
) -> Result<Outcome, BatchError> {
    match attempt(conn, means, rules, batch, false).await {
        Err(BatchError::Tick(TickError::Database(error))) if blame(&error) == Blame::Job => {
            attempt(conn, means, rules, batch, true).await
        }
        outcome => outcome,
    }
}

async fn attempt(
    conn: &mut PgConnection,
    means: &Means,
    rules: &Rules,
    batch: &[Wanted],
    isolate: bool,
) -> Result<Outcome, BatchError> {
    let begin = include_str!("../../queries/claim/begin.sql");
    let mut tx = conn.begin_with(begin).await.doing("beginning a forced admission")?;
    match carry_out(&mut tx, means, rules, batch, isolate).await {
        Ok(outcome) => {
            tx.commit().await.doing("committing a forced admission")?;
            Ok(outcome)
        }
        Err(error) => {
            // At once, not at the connection's next use. A connection that is lost has nothing to undo, and the first error says more.
            _ = tx.rollback().await;
            Err(error)
        }
    }
}

async fn carry_out(
    tx: &mut PgConnection,
    means: &Means,
    rules: &Rules,
    batch: &[Wanted],
    isolate: bool,
) -> Result<Outcome, BatchError> {
    let policy = rules.policy.name().to_string();
    let Some(claim) = claim(tx, rules, batch).await? else { return Ok(Outcome::default()) };
    let scoped = scopes::force::hold(tx, rules, claim).await?;
    let claim = &scoped.claim;
    if claim.revision != rules.revision {
        return Err(BatchError::Tick(TickError::Outdated {
            policy,
            loaded: rules.revision,
            found: claim.revision,
        }));
    }
    let wanted: HashMap<Uuid, i64> = batch.iter().map(|one| (one.partition_id, one.jobs)).collect();
    let count = |id| u32::try_from(wanted.get(id).copied().unwrap_or(0)).unwrap_or(u32::MAX);
    let counts: Vec<u32> = claim.ids.iter().map(count).collect();
    let plan = tick_plan::forced(
        &rules.policy,
        &claim.facts,
        &counts,
        scoped.scopes.as_ref().map(|scopes| scopes.facts.clone()),
        &limits(rules, &means.settings, None),
        claim.now,
    );
    let takes: Vec<Take> = (claim.ids.iter().zip(&claim.facts).zip(&plan.looks).enumerate())
        .map(|(at, ((&partition, facts), look))| Take {
            partition,
            key: facts.key.as_str().to_owned(),
            count: look.take,
            rank: look.rank,
            limits: look.limits.clone(),
            charged: None,
            scopes: scoped.slots(at),
        })
        .collect();
    let outcome = match isolate {
        false => Outcome {
            taken: crate::admit::admit(tx, rules, &takes, None, true, claim.now)
                .await
                .map_err(|error| refusal(&policy, rules, error))?,
            refused: 0,
        },
        true => {
            let attempts = means.settings.max_forward_attempts;
            let done = admit_isolated(tx, rules, takes, true, claim.now, None, attempts)
                .await
                .map_err(|error| refusal(&policy, rules, error))?;
            Outcome { taken: done.taken, refused: done.refused }
        }
    };
    let taken: Vec<u32> = claim.ids.iter().map(|id| outcome.taken.get(id).copied().unwrap_or(0)).collect();
    let mut report = TickReport::of(&plan, &taken);
    report.failures = u64::from(outcome.refused);
    let mut settlements = plan.settle(&taken);
    if rules.lacks_closures() {
        // What these gates said without their closure is no reason to wait: a program that has it looks at once.
        for settlement in settlements.iter_mut().filter(|settlement| settlement.due != Due::Idle) {
            settlement.due = Due::Now;
            (settlement.denial, settlement.eligible_at) = (None, None);
        }
    }
    let placed = plan.settle_scopes(&taken, &mut settlements);
    let shard = batch[0].shard_id;
    settle(tx, shard, &claim.ids, &taken, &settlements, &report, claim.now).await?;
    if scoped.scopes.is_some() {
        query(include_str!("../../queries/force/unpark.sql"))
            .bind(&claim.ids)
            .execute(&mut *tx)
            .await
            .doing("taking partitions out of line")?;
    }
    scopes::settle::settle(tx, rules, &scoped, &placed).await?;
    Ok(outcome)
}

/// Locks the partitions, then reads them: what others wrote before they let go is seen.
async fn claim(
    conn: &mut PgConnection,
    rules: &Rules,
    batch: &[Wanted],
) -> Result<Option<Claim>, BatchError> {
    const DOING: &str = "claiming partitions";
    let policy_id = rules.policy_id;
    query(include_str!("../../queries/force/hold_policy.sql"))
        .bind(policy_id)
        .execute(&mut *conn)
        .await
        .doing("holding the policy open")?;
    let (queue, ready, reason): (String, bool, String) =
        query_as(include_str!("../../queries/force/queue_state.sql"))
            .bind(policy_id)
            .fetch_one(&mut *conn)
            .await
            .doing("looking at the queue's state")?;
    if !ready {
        let policy = rules.policy.name().to_string();
        return Err(BatchError::Force(ForceError::QueueNotReady { policy, queue, reason }));
    }
    let ids: Vec<Uuid> = batch.iter().map(|one| one.partition_id).collect();
    query(include_str!("../../queries/force/lock_partitions.sql"))
        .bind(&ids)
        .execute(&mut *conn)
        .await
        .doing(DOING)?;
    let rows = query_as(include_str!("../../queries/force/read_partitions.sql"))
        .bind(policy_id)
        .bind(&ids)
        .bind(None::<chrono::DateTime<chrono::Utc>>)
        .fetch_all(conn)
        .await
        .doing(DOING)?;
    Ok(gather(rows).doing(DOING)?)
}

fn refusal(policy: &str, rules: &Rules, error: DatabaseError) -> BatchError {
    match queue_error(policy, error) {
        TickError::Queue { policy, source } => BatchError::Force(ForceError::QueueNotReady {
            policy,
            queue: rules.policy.queue().to_string(),
            reason: format!("its tables refused a hand-over: {}", source.message()),
        }),
        other => BatchError::Tick(other),
    }
}
