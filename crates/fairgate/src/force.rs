//! Admission now, whatever gates and pauses say: so many jobs of a partition, or all that waits.
//!
//! It is a tick without asking: the same locks, the same statement that admits, the same settlement, in bounded batches. The slots are marked
//! `forced` and count, and buckets go into debt. It works while the policy is paused, disabled or retired; only a queue that is not ready stops
//! it. Scheduled jobs wait for their time all the same.

mod batch;

use std::collections::VecDeque;
use std::sync::Arc;

use fairgate_core::id::{PartitionKey, PolicyName};
use fairgate_core::policy::Policy;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::absorb::absorb_all;
use crate::error::{DatabaseError, Doing};
use crate::lane::{Rules, RulesError};
use crate::operate::{OperateError, partition_id, policy_id};
use crate::queue::Queue;
use crate::settings::Settings;
use crate::tick::TickError;

/// What a forced admission goes by. The default does where policies have no closures and queues are of a known type.
#[derive(Debug, Clone, Default)]
pub struct Means {
    /// The engine's knobs; `fairness_half_life`, `partition_batch_size` and `max_forward_attempts` count here.
    pub settings: Settings,
    /// Policies with closures. A gate whose closure is missing charges the bucket that it has stored, if any.
    pub policies: Vec<Policy>,
    /// Adapters that cannot be built from what is registered, by queue name.
    pub queues: Vec<(String, Arc<dyn Queue>)>,
}

/// What a forced admission did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Forced {
    /// Jobs that were admitted.
    pub admitted: u64,
    /// Jobs that the queue refused; they are retried, or quarantined, as after a tick.
    pub refused: u64,
    /// Jobs that still wait and could go by their time.
    pub waiting: i64,
    /// Jobs whose time is still to come.
    pub scheduled: i64,
}

/// Why a forced admission ended. What was admitted before stays so.
#[derive(Debug, thiserror::Error)]
pub enum ForceError {
    /// There is no such policy or partition, or the database failed.
    #[error(transparent)]
    Operate(#[from] OperateError),
    /// The queue behind the policy takes no jobs.
    #[error("queue \"{queue}\" of policy \"{policy}\" is not ready: {reason}")]
    QueueNotReady {
        /// The policy.
        policy: String,
        /// The queue.
        queue: String,
        /// Why.
        reason: String,
    },
    /// The registered policy, or its queue, is unknown to this version or program.
    #[error("{0}")]
    Rules(String),
    /// It failed after some of its batches were committed.
    #[error("{} had been admitted, and stay so, when it failed: {source}", jobs(*admitted))]
    Halfway {
        /// Jobs that had been admitted.
        admitted: u64,
        /// Why it went no further.
        #[source]
        source: Box<ForceError>,
    },
}

fn jobs(count: u64) -> String {
    if count == 1 { "1 job".to_owned() } else { format!("{count} jobs") }
}

impl From<DatabaseError> for ForceError {
    fn from(error: DatabaseError) -> Self {
        Self::Operate(error.into())
    }
}

impl From<RulesError> for ForceError {
    fn from(error: RulesError) -> Self {
        match error {
            RulesError::Database(error) => error.into(),
            other => Self::Rules(other.to_string()),
        }
    }
}

/// Admits up to `count` waiting jobs of a partition, in their order. Give it a connection that is in no transaction.
///
/// # Errors
/// See [`ForceError`].
pub async fn admit(
    conn: &mut PgConnection,
    means: &Means,
    policy: &PolicyName,
    partition: &PartitionKey,
    count: u32,
) -> Result<Forced, ForceError> {
    let policy_id = policy_id(conn, policy.as_str()).await?;
    let partition = partition_id(conn, policy_id, policy, partition).await?;
    let mut waiting = list(conn, policy_id, Some(partition)).await?;
    for one in &mut waiting {
        one.jobs = one.jobs.min(i64::from(count));
    }
    force(conn, means, policy_id, Some(partition), waiting).await
}

/// Admits everything that waits at this moment and could go by its time, of a policy or of one partition; not what is staged meanwhile. Give it
/// a connection that is in no transaction.
///
/// # Errors
/// See [`ForceError`].
pub async fn drain(
    conn: &mut PgConnection,
    means: &Means,
    policy: &PolicyName,
    partition: Option<&PartitionKey>,
) -> Result<Forced, ForceError> {
    let policy_id = policy_id(conn, policy.as_str()).await?;
    let partition = match partition {
        Some(key) => Some(partition_id(conn, policy_id, policy, key).await?),
        None => None,
    };
    let waiting = list(conn, policy_id, partition).await?;
    force(conn, means, policy_id, partition, waiting).await
}

/// What is to be taken from one partition.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
struct Wanted {
    partition_id: Uuid,
    shard_id: i32,
    jobs: i64,
}

/// What waits. Reports are folded in first, so that every partition has its row.
async fn list(
    conn: &mut PgConnection,
    policy_id: i32,
    partition: Option<Uuid>,
) -> Result<Vec<Wanted>, DatabaseError> {
    absorb_all(conn).await?;
    crate::sql::query_as(include_str!("../queries/force/list_waiting.sql"))
        .bind(policy_id)
        .bind(partition)
        .fetch_all(conn)
        .await
        .doing("listing what waits")
}

async fn force(
    conn: &mut PgConnection,
    means: &Means,
    policy_id: i32,
    partition: Option<Uuid>,
    wanted: Vec<Wanted>,
) -> Result<Forced, ForceError> {
    let mut done = Forced::default();
    match carry_on(conn, means, policy_id, partition, wanted, &mut done).await {
        Ok(()) => Ok(done),
        Err(error) if done.admitted == 0 => Err(error),
        Err(error) => Err(ForceError::Halfway { admitted: done.admitted, source: Box::new(error) }),
    }
}

/// Batch after batch; `done` tells of those that were committed.
async fn carry_on(
    conn: &mut PgConnection,
    means: &Means,
    policy_id: i32,
    partition: Option<Uuid>,
    wanted: Vec<Wanted>,
    done: &mut Forced,
) -> Result<(), ForceError> {
    let mut rules = Rules::load_any(conn, policy_id, &means.policies, &means.queues, true).await?;
    let mut wanted = VecDeque::from(wanted);
    loop {
        let batch = batch::next(&wanted, means.settings.partition_batch_size);
        if batch.is_empty() {
            break;
        }
        let outcome = match batch::admit(conn, means, &rules, &batch).await {
            Err(batch::BatchError::Tick(TickError::Outdated { .. })) => {
                rules = Rules::load_any(conn, policy_id, &means.policies, &means.queues, true).await?;
                continue;
            }
            outcome => outcome?,
        };
        done.admitted += outcome.taken.values().map(|&n| u64::from(n)).sum::<u64>();
        done.refused += u64::from(outcome.refused);
        for mut one in wanted.drain(..batch.len()).collect::<Vec<_>>() {
            let taken = outcome.taken.get(&one.partition_id).copied().unwrap_or(0);
            one.jobs -= i64::from(taken);
            // Nothing taken and nothing refused: somebody else has its jobs.
            if one.jobs > 0 && (taken > 0 || outcome.refused > 0) {
                wanted.push_front(one);
            }
        }
    }
    (done.waiting, done.scheduled) = crate::sql::query_as(include_str!("../queries/force/count_left.sql"))
        .bind(policy_id)
        .bind(partition)
        .fetch_one(conn)
        .await
        .doing("counting what is left")?;
    Ok(())
}
