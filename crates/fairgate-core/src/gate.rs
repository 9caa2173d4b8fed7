//! Gates: how many jobs of a partition may go now, and what that leaves behind.

pub mod concurrency;
pub mod throttle;

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::context::Context;
use crate::definition::{GateDefinition, GateKind};
use crate::id::GateName;
use crate::param::{BadParam, Param};
use crate::reason::DenyReason;
use crate::time::later;
use crate::verdict::{BadNumber, Denial, Verdict, WakeEvent};

pub use concurrency::Concurrency;
pub use throttle::Throttle;

/// When a gate whose number cannot be used is looked at again.
const BAD_PARAMETER_BACKOFF: Duration = Duration::from_secs(60);

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

/// A gate's stored state: JSON that only the gate reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawState(Box<RawValue>);

impl RawState {
    /// The JSON text.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    fn write<T: Serialize>(state: &T) -> Self {
        let raw = serde_json::value::to_raw_value(state);
        Self(raw.expect("a state is a struct of numbers and strings"))
    }

    /// The state, or `None` when it is not one.
    fn read<'de, T: Deserialize<'de>>(&'de self) -> Option<T> {
        serde_json::from_str(self.as_json()).ok()
    }
}

impl From<Box<RawValue>> for RawState {
    fn from(json: Box<RawValue>) -> Self {
        Self(json)
    }
}

/// A gate of a policy.
#[derive(Debug, Clone)]
pub enum Gate {
    /// At most `rate` jobs per `per`, and `burst` at once.
    Throttle(Throttle),
    /// At most `max` jobs in flight.
    Concurrency(Concurrency),
}

/// A gate's answer with what is needed to settle it.
#[derive(Debug, Clone)]
pub struct Assessment {
    /// The answer.
    pub verdict: Verdict,
    /// The cap on jobs in flight in force, for a gate that has one.
    pub limit: Option<f64>,
    after: After,
}

/// What a gate keeps, before the jobs that are taken are charged.
#[derive(Debug, Clone)]
enum After {
    Nothing,
    Bucket(throttle::State),
}

impl Gate {
    /// Its name within the policy.
    pub fn name(&self) -> &GateName {
        match self {
            Self::Throttle(gate) => gate.name(),
            Self::Concurrency(gate) => gate.name(),
        }
    }

    /// `throttle` or `concurrency`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Throttle(_) => "throttle",
            Self::Concurrency(_) => "concurrency",
        }
    }

    /// How many jobs may go now. A state that cannot be read counts as none, which is a new partition's.
    pub fn evaluate(&self, facts: &Facts<'_>, state: Option<&RawState>, now: DateTime<Utc>) -> Verdict {
        self.assess(facts, state, now).verdict
    }

    /// The same with what [`Assessment::settle`] needs.
    pub fn assess(&self, facts: &Facts<'_>, state: Option<&RawState>, now: DateTime<Utc>) -> Assessment {
        match self {
            Self::Throttle(gate) => gate.assess(facts, state, now),
            Self::Concurrency(gate) => gate.assess(facts, now),
        }
    }

    /// Whether forgetting the state loses nothing.
    pub fn at_rest(&self, state: &RawState, now: DateTime<Utc>) -> bool {
        match self {
            Self::Throttle(_) => throttle::State::read(state).is_none_or(|state| state.is_full(now)),
            Self::Concurrency(_) => true,
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
            Self::Throttle(gate) => [Some(&gate.rate), gate.burst.as_ref()],
            Self::Concurrency(gate) => [Some(&gate.max), None],
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
        };
        let name = self.name().clone();
        GateDefinition { name, kind }
    }
}

impl Assessment {
    /// The state to store after `taken` jobs were really admitted; `None` for a gate that keeps none.
    pub fn settle(&self, taken: u64, now: DateTime<Utc>) -> Option<RawState> {
        match &self.after {
            After::Nothing => None,
            After::Bucket(state) => Some(RawState::write(&state.charged(taken, now))),
        }
    }
}

/// The answer of a gate whose number cannot be used.
fn bad_parameter(gate: &GateName, parameter: &'static str, problem: BadParam, now: DateTime<Utc>) -> Verdict {
    let until = later(now, BAD_PARAMETER_BACKOFF);
    Verdict::Deny(Denial {
        gate: Some(gate.clone()),
        event: Some(WakeEvent::ContextChange),
        bad: Some(BadNumber { parameter, problem }),
        ..Denial::new(DenyReason::BadParameter, until)
    })
}
