//! A lane is what a tick serves: one shard of one policy, with the queue behind it.

use chrono::{DateTime, Utc};
use fairgate_core::definition::Definition;
use fairgate_core::fairness::weighted::Cost;
use fairgate_core::gate::Gate;
use fairgate_core::policy::{Fairness, Policy};
use fairgate_core::pressure::{self, MaxWaiting};
use sqlx::PgConnection;

use crate::admit::AdmitSql;
use crate::error::{DatabaseError, Doing};
use crate::queue;
use crate::registry::{self, OwnQueues};
use crate::scopes::ScopeRules;

/// A lane that has something to do now or later.
#[derive(Debug, Clone, sqlx::FromRow)]
pub(crate) struct OpenLane {
    pub(crate) shard_id: i32,
    pub(crate) shard: String,
    pub(crate) policy_id: i32,
    pub(crate) policy: String,
    pub(crate) revision: i32,
    pub(crate) queue: String,
    /// `fairgate.queue.identity`: rules that were loaded for another are outdated.
    pub(crate) queue_identity: String,
    pub(crate) queue_ready: bool,
    pub(crate) not_ready_reason: Option<String>,
    pub(crate) due: bool,
    pub(crate) wait_us: i64,
    /// Its virtual time under weighted fairness, as of a moment ago.
    pub(crate) share: String,
    /// Whether the queue's tables show when a job begins.
    pub(crate) shows_starts: bool,
    pub(crate) max_waiting: Option<i32>,
    pub(crate) running: i32,
    pub(crate) starts_per_second: f64,
    /// Tickers at work that serve this lane.
    pub(crate) tickers: i64,
}

impl OpenLane {
    /// How many jobs its queue may hold that no worker has begun.
    pub(crate) fn waiting_limit(&self) -> Option<u64> {
        let max = MaxWaiting::from_number(self.max_waiting.map(i32::unsigned_abs));
        let limit = pressure::limit(max, self.running.unsigned_abs().into(), self.starts_per_second);
        limit.filter(|_| self.shows_starts)
    }
}

/// The rules of a registered policy at one revision, ready to serve.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) policy_id: i32,
    pub(crate) revision: i32,
    pub(crate) policy: Policy,
    pub(crate) queue_id: i32,
    pub(crate) queue_identity: String,
    /// The admission statement with this queue's inserts spliced in.
    pub(crate) admit_sql: AdmitSql,
    /// Whether the ends of its jobs teach a gate something.
    pub(crate) learns: bool,
    /// Of a policy that has gates of a coarser scope than the partition.
    pub(crate) scopes: Option<ScopeRules>,
}

impl Rules {
    /// Whether its jobs are charged by the worker seconds they take.
    pub(crate) fn learns_seconds(&self) -> bool {
        matches!(self.policy.fairness(), Fairness::Weighted { cost: Cost::Time, .. })
    }
}

/// Why a registered policy cannot be served by this program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RulesError {
    /// The database did not answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// It was removed a moment ago.
    #[error("policy {0} is no longer registered")]
    Gone(i32),
    /// Written by a newer version.
    #[error("policy \"{policy}\": its registered definition cannot be read by this version: {problem}")]
    Unreadable {
        /// The policy.
        policy: String,
        /// What is wrong.
        problem: String,
    },
    /// Its closures live in another program.
    #[error(
        "policy \"{policy}\" uses closures that this program does not have (or has at another revision); a program that has them must serve it"
    )]
    LacksClosures {
        /// The policy.
        policy: String,
    },
    /// No adapter for its queue.
    #[error("policy \"{policy}\": {source}")]
    Queue {
        /// The policy.
        policy: String,
        /// What is wrong.
        #[source]
        source: queue::QueueError,
    },
}

pub(crate) async fn open_lanes(
    conn: &mut PgConnection,
    now: Option<DateTime<Utc>>,
    policy: Option<&str>,
    shard: Option<&str>,
) -> Result<Vec<OpenLane>, DatabaseError> {
    crate::sql::query_as(include_str!("../queries/lane/list_open_lanes.sql"))
        .bind(now)
        .bind(policy)
        .bind(shard)
        .fetch_all(conn)
        .await
        .doing("listing what is due")
}

/// Microseconds until the next scheduled job.
pub(crate) async fn next_scheduled_wait(
    conn: &mut PgConnection,
    now: Option<DateTime<Utc>>,
) -> Result<Option<i64>, DatabaseError> {
    let sql = include_str!("../queries/lane/next_scheduled_wait.sql");
    crate::sql::query_scalar(sql)
        .bind(now)
        .fetch_optional(conn)
        .await
        .doing("looking for the next scheduled job")
}

#[derive(sqlx::FromRow)]
struct Registered {
    name: String,
    revision: i32,
    definition: String,
    queue_id: i32,
    queue: String,
    kind: String,
    schema_name: String,
    settings: serde_json::Value,
    identity: String,
}

impl Rules {
    /// Loads what is registered. Closures come from `own`, if one of them is the registered policy; adapters from `queues`, else by kind.
    pub(crate) async fn load(
        conn: &mut PgConnection,
        policy_id: i32,
        own: &[Policy],
        queues: &OwnQueues,
    ) -> Result<Self, RulesError> {
        let rules = Self::load_any(conn, policy_id, own, queues, false).await?;
        if rules.lacks_closures() {
            return Err(RulesError::LacksClosures { policy: rules.policy.name().to_string() });
        }
        Ok(rules)
    }

    /// The same for a policy whose closures are not at hand: gates that need them cannot be obeyed. `forced`: slots say that none was.
    pub(crate) async fn load_any(
        conn: &mut PgConnection,
        policy_id: i32,
        own: &[Policy],
        queues: &OwnQueues,
        forced: bool,
    ) -> Result<Self, RulesError> {
        let row: Option<Registered> = crate::sql::query_as(include_str!("../queries/lane/load_policy.sql"))
            .bind(policy_id)
            .fetch_optional(conn)
            .await
            .doing("loading a policy")?;
        let row = row.ok_or(RulesError::Gone(policy_id))?;
        let unreadable = |problem: String| RulesError::Unreadable { policy: row.name.clone(), problem };
        let definition: Definition =
            serde_json::from_str(&row.definition).map_err(|e| unreadable(e.to_string()))?;
        let registered =
            Policy::from_definition(&row.name, definition).map_err(|e| unreadable(e.to_string()))?;
        let policy = own.iter().find_map(|p| registered.with_closures_of(p)).unwrap_or(registered);
        let queue = registry::adapter(&row.queue, &row.kind, &row.schema_name, &row.settings, queues)
            .map_err(|source| RulesError::Queue { policy: row.name.clone(), source })?;
        let learns = policy.gates().iter().any(|gate| matches!(gate, Gate::Adaptive(_)));
        let scopes = ScopeRules::of(&policy);
        let admit_sql = AdmitSql::compose(queue.as_ref(), scopes.is_some(), forced);
        Ok(Self {
            policy_id,
            revision: row.revision,
            policy,
            queue_id: row.queue_id,
            queue_identity: row.identity,
            admit_sql,
            learns,
            scopes,
        })
    }
    /// Whether a gate needs a closure that this program does not have.
    pub(crate) fn lacks_closures(&self) -> bool {
        self.policy.gates().iter().any(fairgate_core::gate::Gate::lacks_closure)
    }
}
