//! Gates: how many jobs of a partition may go now, and what that leaves behind.

pub mod adaptive;
mod assessment;
mod bad;
pub mod concurrency;
mod observation;
mod parameters;
mod raw_state;
mod scope;
pub mod throttle;

use chrono::{DateTime, Utc};

use crate::context::Context;
use crate::definition::{GateDefinition, GateKind, Scope};
use crate::id::GateName;
use crate::param::Param;
use crate::verdict::{Denial, Verdict};

use assessment::After;

pub use adaptive::Adaptive;
pub use assessment::Assessment;
pub use concurrency::Concurrency;
pub use observation::{JobOutcome, Observation};
pub use raw_state::RawState;
pub use scope::{BadScope, ScopeKey};
pub use throttle::Throttle;

/// Everything a gate may know about a partition besides its own state and the time.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The partition's newest context.
    pub context: &'a Context,
    /// Jobs that wait and could go now.
    pub pending: i64,
    /// Jobs in flight.
    pub in_flight: i64,
}

/// What every gate has.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    pub(crate) name: GateName,
    /// Whose jobs it counts together.
    pub(crate) scope: Scope,
    /// Whether it only counts what it would have denied.
    pub(crate) shadow: bool,
}

/// A gate of a policy.
#[derive(Debug, Clone)]
pub enum Gate {
    /// At most `rate` jobs per `per`, and `burst` at once.
    Throttle(Throttle),
    /// At most `max` jobs in flight.
    Concurrency(Concurrency),
    /// At most as many jobs in flight as a cap that follows their lag.
    Adaptive(Adaptive),
}

impl Gate {
    fn common(&self) -> &Common {
        match self {
            Self::Throttle(gate) => &gate.common,
            Self::Concurrency(gate) => &gate.common,
            Self::Adaptive(gate) => &gate.common,
        }
    }

    /// Its name within the policy.
    pub fn name(&self) -> &GateName {
        &self.common().name
    }

    /// `throttle`, `concurrency` or `adaptive_concurrency`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Throttle(_) => "throttle",
            Self::Concurrency(_) => "concurrency",
            Self::Adaptive(_) => "adaptive_concurrency",
        }
    }

    /// Whose jobs it counts together.
    pub fn scope(&self) -> &Scope {
        &self.common().scope
    }

    /// Whether it only counts what it would have denied.
    pub fn is_shadow(&self) -> bool {
        self.common().shadow
    }

    /// Whether it counts the jobs of more than a partition together.
    pub fn is_scoped(&self) -> bool {
        *self.scope() != Scope::Partition
    }

    /// Whether it counts the jobs of the whole policy together.
    pub fn is_policy_wide(&self) -> bool {
        *self.scope() == Scope::Policy
    }

    /// Whether a job in flight holds a slot of it.
    pub const fn holds_slots(&self) -> bool {
        matches!(self, Self::Concurrency(_) | Self::Adaptive(_))
    }

    /// Whether one of its numbers comes from a context.
    pub fn reads_context(&self) -> bool {
        self.params().any(|param| !matches!(param, Param::Fixed(_)))
    }

    /// What a partition with this context counts towards; `None` is the partition itself. A context that does not say it denies.
    ///
    /// # Errors
    /// The denial.
    pub fn scope_key(&self, context: &Context, now: DateTime<Utc>) -> Result<Option<ScopeKey>, Box<Denial>> {
        let denial = |problem| Box::new(bad::scope(self.name(), problem, now));
        self.scope().key(context).map_err(denial)
    }

    /// Whether the answer is that of the scope which this context says, and not the partition's own.
    pub fn is_asked_of_scope(&self, context: &Context, now: DateTime<Utc>) -> bool {
        self.is_scoped() && self.scope_key(context, now).is_ok()
    }

    /// How many jobs may go now. A state that cannot be read counts as none, which is a new partition's.
    pub fn evaluate(&self, facts: &Facts<'_>, state: Option<&RawState>, now: DateTime<Utc>) -> Verdict {
        self.assess(facts, state, now).verdict
    }

    /// The answer of a scope, whose facts and state these are: the context is the newest of its partitions.
    pub(crate) fn assess_scope(
        &self,
        facts: &Facts<'_>,
        state: Option<&RawState>,
        now: DateTime<Utc>,
    ) -> Assessment {
        let mut assessment = self.ask(facts, state, now);
        assessment.shadow = self.is_shadow();
        assessment
    }

    fn ask(&self, facts: &Facts<'_>, state: Option<&RawState>, now: DateTime<Utc>) -> Assessment {
        match self {
            Self::Throttle(gate) => gate.assess(facts, state, now),
            Self::Concurrency(gate) => gate.assess(facts, now),
            Self::Adaptive(gate) => gate.assess(facts, state, now),
        }
    }

    /// The same with what [`Assessment::settle`] needs.
    pub fn assess(&self, facts: &Facts<'_>, state: Option<&RawState>, now: DateTime<Utc>) -> Assessment {
        let mut assessment = match self.scope_key(facts.context, now) {
            Err(denial) => {
                let after = state.cloned().map_or(After::Nothing, After::Kept);
                Assessment::new(Verdict::Deny(*denial), None, after)
            }
            Ok(_) => self.ask(facts, state, now),
        };
        assessment.shadow = self.is_shadow();
        assessment
    }

    /// The state with what was seen of jobs that ended, in [`Observation::fold_order`]; `None` where there is nothing to keep or
    /// nothing to change.
    pub(crate) fn observe(
        &self,
        context: &Context,
        state: Option<&RawState>,
        observations: &[Observation],
        now: DateTime<Utc>,
    ) -> Option<RawState> {
        match self {
            Self::Adaptive(gate) => gate.observe(context, state, observations, now),
            Self::Throttle(_) | Self::Concurrency(_) => None,
        }
    }

    /// Whether forgetting the state loses nothing.
    pub fn at_rest(&self, state: &RawState, now: DateTime<Utc>) -> bool {
        match self {
            Self::Throttle(_) => throttle::State::read(state).is_none_or(|state| state.is_full(now)),
            // A cap that fell starts again after a rest; a larger one is learnt again.
            Self::Concurrency(_) | Self::Adaptive(_) => true,
        }
    }

    /// Whether it needs a closure that this process does not have.
    pub fn lacks_closure(&self) -> bool {
        self.params().any(|param| matches!(param, Param::Computed(computed) if computed.is_missing()))
    }

    /// Whether a closure computes one of its numbers.
    pub(crate) fn has_closure(&self) -> bool {
        self.params().any(|param| matches!(param, Param::Computed(_)))
    }

    fn params(&self) -> impl Iterator<Item = &Param> {
        match self {
            Self::Throttle(gate) => [Some(&gate.rate), gate.burst.as_ref(), None, None],
            Self::Concurrency(gate) => [Some(&gate.max), None, None, None],
            Self::Adaptive(gate) => {
                [Some(&gate.initial_max), Some(&gate.target_lag_ms), Some(&gate.min), gate.max.as_ref()]
            }
        }
        .into_iter()
        .flatten()
    }

    /// The part that can be stored.
    pub fn definition(&self) -> GateDefinition {
        let kind = match self {
            Self::Throttle(gate) => GateKind::Throttle {
                rate: gate.rate.definition(),
                per: gate.per,
                burst: gate.burst.as_ref().map(Param::definition),
            },
            Self::Concurrency(gate) => {
                GateKind::Concurrency { max: gate.max.definition(), full_backoff: gate.full_backoff }
            }
            Self::Adaptive(gate) => GateKind::Adaptive(gate.definition()),
        };
        let Common { name, scope, shadow } = self.common().clone();
        GateDefinition { name, kind, scope, shadow }
    }
}
