//! One tick of a policy, decided: facts in, a plan out; what was really taken in, settlements out.

mod forced;
mod order;
mod scoped;
mod scoped_settle;
mod scoped_share;
mod settle;
mod weighted;

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::context::Context;
use crate::fairness::weighted::{LaneAdvance, Offers, Samples};
use crate::fairness::{decayed, offers};
use crate::gate::{Facts, Observation};
use crate::id::PartitionKey;
use crate::overrides::Overrides;
use crate::pipeline::{Decision, GateStates, decide, observe};
use crate::policy::Policy;
use crate::reason::DenyReason;
use crate::time::since;
use crate::verdict::Denial;

pub use forced::forced;
pub use scoped::{HeldScope, Place, Scopes, assess_scope};
pub use scoped_settle::{PlaceSettlement, ScopeSettlement, ScopeSettlements, WOKEN_HAVE, settled_states};
pub use settle::{Due, Settlement};
pub use weighted::Lane;

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
    /// Its state under weighted fairness, the text of a JSON object; `None` when it has none.
    pub share: Option<String>,
    /// Worker seconds that its jobs that ended took, beyond what they were charged.
    pub correction: f64,
    /// Those of them that ran.
    pub finished: Samples,
    /// Its [overrides](crate::overrides) that are in force or have ended since its last look, the text of a JSON array; `None` when it has none.
    pub overrides: Option<String>,
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
    /// Jobs that the queue has room for; `None` is any number.
    pub queue_room: Option<u32>,
}

/// What a tick intends, partition by partition.
#[derive(Debug, Clone)]
pub struct TickPlan {
    /// The instant of the decision.
    pub now: DateTime<Utc>,
    /// One look for each claimed partition, in claim order.
    pub looks: Vec<Look>,
    policy: Policy,
    /// Set under weighted fairness.
    offers: Option<Offers>,
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
    /// Something that is no gate holds its jobs: the denial says what.
    held: bool,
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
    /// The policy with the overrides in force, where there are any.
    overridden: Option<Policy>,
    /// When the first of them ends.
    next_end: Option<DateTime<Utc>>,
}

/// Decides one tick of a lane that has no state of its own: one by recent activity, or a new one.
pub fn plan(policy: &Policy, claimed: &[Claimed], limits: &Limits, now: DateTime<Utc>) -> TickPlan {
    plan_in_lane(policy, claimed, limits, &Lane::default(), now)
}

/// Decides one tick: asks the gates of every partition and shares what the budget and the queue leave, by recent activity or by weights.
/// `lane` counts for weights only.
pub fn plan_in_lane(
    policy: &Policy,
    claimed: &[Claimed],
    limits: &Limits,
    lane: &Lane,
    now: DateTime<Utc>,
) -> TickPlan {
    plan_scoped(policy, claimed, None, limits, lane, now)
}

/// The same, of a policy that has gates of a coarser scope, with the scopes that the tick holds.
///
/// What a scope has goes to its partitions in equal parts, except that weights also share what the policy's own scopes have.
pub fn plan_scoped(
    policy: &Policy,
    claimed: &[Claimed],
    scopes: Option<Scopes>,
    limits: &Limits,
    lane: &Lane,
    now: DateTime<Utc>,
) -> TickPlan {
    let mut looks: Vec<Look> = claimed.iter().map(|partition| look(policy, partition, limits, now)).collect();
    let scoped = scopes.map(|scopes| scoped_share::share(policy, claimed, &mut looks, scopes, limits, now));
    let (limits, narrow) = match &scoped {
        Some(scoped) => scoped.narrow(policy, limits, now),
        None => (*limits, None),
    };
    let offers = weighted::share_out(policy, claimed, &mut looks, &limits, lane, now);
    if offers.is_none() {
        share_by_recent_activity(claimed, &mut looks, &limits, now);
    }
    if let Some(denial) = narrow {
        let left_out = |look: &&mut Look| {
            look.denial.as_ref().is_some_and(|denial| denial.reason == DenyReason::QueueFull)
        };
        looks.iter_mut().filter(left_out).for_each(|look| look.hold(denial.clone()));
    }
    let policy = policy.clone();
    TickPlan { now, looks, policy, offers, scoped }
}

fn share_by_recent_activity(claimed: &[Claimed], looks: &mut [Look], limits: &Limits, now: DateTime<Utc>) {
    let order = order::by_fairness(claimed, looks);
    let demands: Vec<u64> = order.iter().map(|&at| looks[at].demand(limits)).collect();
    let shares = match limits.most() {
        Some((most, _)) => offers(&demands, u64::from(most)),
        None => demands,
    };
    let left_out = limits.most().map_or(DenyReason::TickCapExhausted, |(_, reason)| reason);
    for (rank, (at, share)) in order.into_iter().zip(shares).enumerate() {
        looks[at].rank = u32::try_from(rank).unwrap_or(u32::MAX);
        looks[at].offer(share, left_out, now);
    }
}

impl TickPlan {
    /// What each job of a partition is charged under weighted fairness, in the order of the looks; `None` without.
    pub fn charges(&self) -> Option<Vec<f64>> {
        let offers = self.offers.as_ref()?;
        Some(offers.settle(&[]).partitions.into_iter().map(|partition| partition.charged).collect())
    }

    /// What the tick adds to its lane after its commit; `None` without weighted fairness, or when it adds nothing.
    pub fn advance(&self, taken: &[u32]) -> Option<LaneAdvance> {
        let advance = self.offers.as_ref()?.settle(taken).advance;
        (!advance.is_empty()).then_some(advance)
    }
}

fn look(policy: &Policy, partition: &Claimed, limits: &Limits, now: DateTime<Utc>) -> Look {
    let facts =
        Facts { context: &partition.context, pending: partition.pending, in_flight: partition.in_flight };
    let states = GateStates::parse(partition.gates.as_deref());
    let overrides = Overrides::parse(partition.overrides.as_deref());
    let states = overrides.carry(policy, &facts, states, None, now);
    let overridden = (!overrides.is_empty()).then(|| overrides.in_force(policy, now));
    let policy = overridden.as_ref().unwrap_or(policy);
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
            next_end: overrides.next_end(now),
            overridden: overridden.clone(),
        },
        held: false,
    }
}

impl Limits {
    /// The jobs that a tick may hand over in all, and what holds the rest.
    fn most(&self) -> Option<(u32, DenyReason)> {
        let budget = self.tick_admission_budget.map(|jobs| (jobs, DenyReason::TickCapExhausted));
        let room = self.queue_room.map(|jobs| (jobs, DenyReason::QueueFull));
        budget.into_iter().chain(room).min_by_key(|(jobs, _)| *jobs)
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

    /// Fixes what it takes. It denies for lack of budget, or of room in the queue, where the gates would have let something go.
    fn offer(&mut self, share: u64, left_out: DenyReason, now: DateTime<Utc>) {
        self.take = u32::try_from(share).unwrap_or(u32::MAX);
        if share == 0 && self.seen.pending > 0 && self.decision.allowance > 0 {
            self.hold(Denial::new(left_out, now));
        }
    }

    /// Something that is no gate holds its jobs.
    fn hold(&mut self, denial: Denial) {
        self.denial = Some(denial);
        self.held = true;
    }

    /// The answers of the shadow gates that would have held jobs that wait.
    pub fn shadow_denials(&self) -> &[Denial] {
        if self.seen.pending > 0 { &self.decision.shadow_denials } else { &[] }
    }

    /// Whether the budget left it nothing.
    fn is_starved(&self) -> bool {
        let reason = self.denial.as_ref().map(|denial| denial.reason);
        matches!(reason, Some(DenyReason::TickCapExhausted | DenyReason::QueueFull))
    }
}
