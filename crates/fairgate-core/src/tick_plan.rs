//! One tick of a policy, decided: facts in, a plan out; what was really taken in, settlements out.

mod order;
mod scoped;
mod scoped_settle;
mod settle;

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::context::Context;
use crate::fairness::{decayed, offers};
use crate::gate::{Facts, Observation};
use crate::id::PartitionKey;
use crate::pipeline::{Decision, GateStates, decide, observe};
use crate::policy::Policy;
use crate::reason::DenyReason;
use crate::time::since;
use crate::verdict::Denial;

pub use scoped::{HeldScope, Place, Scopes, assess_scope};
pub use scoped_settle::{PlaceSettlement, ScopeSettlement, ScopeSettlements, WOKEN_HAVE};
pub use settle::{Due, Settlement};

/// Everything about a claimed partition that a decision needs.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The partition's key.
    pub key: PartitionKey,
    /// Its newest context.
    pub context: Context,
    /// Jobs that wait and could go now.
    pub pending: i64,
    /// Jobs in flight.
    pub in_flight: i64,
    /// The stored states of its gates, the text of a JSON object.
    pub gates: Option<String>,
    /// What was seen of its jobs that ended since the states were stored, the text of a JSON array of [`Observation`]s in any order;
    /// `None` when nothing was. Elements that cannot be read are left out.
    pub observations: Option<String>,
    /// Recent activity as of `recent_at`.
    pub recent: f64,
    /// When `recent` was last brought up to date.
    pub recent_at: DateTime<Utc>,
    /// Whether it got nothing at its last look because the budget ran out.
    pub starved: bool,
}

/// How much one tick of a policy may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Jobs a partition may get when there is no budget.
    pub admission_batch_size: u32,
    /// Jobs the whole tick may admit; `None` is no budget.
    pub tick_admission_budget: Option<u32>,
    /// How fast recent activity is forgotten; `None` serves in claim order.
    pub half_life: Option<Duration>,
}

/// What a tick intends, partition by partition.
#[derive(Debug, Clone)]
pub struct TickPlan {
    /// The instant of the decision.
    pub now: DateTime<Utc>,
    /// One look for each claimed partition, in claim order.
    pub looks: Vec<Look>,
    policy: Policy,
    scoped: Option<scoped::ScopePlan>,
}

/// What a tick intends for one partition.
#[derive(Debug, Clone)]
pub struct Look {
    /// Its place in fairness order; 0 is served first.
    pub rank: u32,
    /// Jobs to take.
    pub take: u32,
    /// The caps in force, as the text of a JSON object: what the in-flight rows store.
    pub limits: String,
    /// Why nothing is taken although jobs wait.
    pub denial: Option<Denial>,
    /// What the gates say.
    pub decision: Decision,
    seen: Seen,
}

/// The facts that settling needs again.
#[derive(Debug, Clone)]
struct Seen {
    context: Context,
    pending: i64,
    in_flight: i64,
    /// Recent activity at `now`.
    recent: f64,
    recent_at: DateTime<Utc>,
}

/// Decides one tick: asks the gates of every partition, orders them by fairness and shares the budget.
pub fn plan(policy: &Policy, claimed: &[Claimed], limits: &Limits, now: DateTime<Utc>) -> TickPlan {
    plan_scoped(policy, claimed, None, limits, now)
}

/// The same, of a policy that has gates of a coarser scope, with the scopes that the tick holds.
pub fn plan_scoped(
    policy: &Policy,
    claimed: &[Claimed],
    scopes: Option<Scopes>,
    limits: &Limits,
    now: DateTime<Utc>,
) -> TickPlan {
    let mut looks: Vec<Look> = claimed.iter().map(|partition| look(policy, partition, limits, now)).collect();
    let scoped = scopes.map(|scopes| scoped::share(policy, claimed, &mut looks, scopes, limits, now));
    let order = order::by_fairness(claimed, &looks);
    let demands: Vec<u64> = order.iter().map(|&at| looks[at].demand(limits)).collect();
    let shares = match limits.tick_admission_budget {
        Some(budget) => offers(&demands, u64::from(budget)),
        None => demands,
    };
    for (rank, (at, share)) in order.into_iter().zip(shares).enumerate() {
        looks[at].rank = u32::try_from(rank).unwrap_or(u32::MAX);
        looks[at].offer(share, now);
    }
    let policy = policy.clone();
    TickPlan { now, looks, policy, scoped }
}

fn look(policy: &Policy, partition: &Claimed, limits: &Limits, now: DateTime<Utc>) -> Look {
    let facts =
        Facts { context: &partition.context, pending: partition.pending, in_flight: partition.in_flight };
    let states = GateStates::parse(partition.gates.as_deref());
    let observations = Observation::parse_all(partition.observations.as_deref());
    let states = observe(policy, &partition.context, states, observations, now);
    let decision = decide(policy, &facts, &states, now);
    let idle = since(partition.recent_at, now);
    Look {
        rank: 0,
        take: 0,
        limits: decision.limits_json(),
        denial: decision.denial.clone().filter(|_| partition.pending > 0),
        decision,
        seen: Seen {
            context: partition.context.clone(),
            pending: partition.pending,
            in_flight: partition.in_flight,
            recent: decayed(partition.recent, idle, limits.half_life),
            recent_at: partition.recent_at,
        },
    }
}

impl Look {
    /// What it could take if it were alone.
    fn demand(&self, limits: &Limits) -> u64 {
        let most = match limits.tick_admission_budget {
            Some(_) => u32::MAX,
            None => limits.admission_batch_size,
        };
        let waiting = self.seen.pending.max(0).unsigned_abs();
        waiting.min(self.decision.allowance).min(u64::from(most))
    }

    /// Fixes what it takes. It denies for lack of budget where the gates would have let something go.
    fn offer(&mut self, share: u64, now: DateTime<Utc>) {
        self.take = u32::try_from(share).unwrap_or(u32::MAX);
        if share == 0 && self.seen.pending > 0 && self.decision.allowance > 0 {
            self.denial = Some(Denial::new(DenyReason::TickCapExhausted, now));
        }
    }

    /// The answers of the shadow gates that would have held jobs that wait.
    pub fn shadow_denials(&self) -> &[Denial] {
        if self.seen.pending > 0 { &self.decision.shadow_denials } else { &[] }
    }

    /// Whether the budget left it nothing.
    fn is_starved(&self) -> bool {
        let reason = self.denial.as_ref().map(|denial| denial.reason);
        reason == Some(DenyReason::TickCapExhausted)
    }
}
