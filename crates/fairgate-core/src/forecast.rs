//! When a partition's next job may go, by the code that decides it.

use chrono::{DateTime, Utc};

use crate::gate::Facts;
use crate::pipeline::{GateStates, decide};
use crate::policy::Policy;
use crate::reason::DenyReason;
use crate::verdict::{Denial, Verdict};

/// Retry times that are followed before time alone counts as not enough.
const MOST_STEPS: usize = 64;

/// What the gates of a partition will say if nothing happens to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The first instant at or after the start at which every gate lets a job go. `None`: time alone does not bring it.
    pub at: Option<DateTime<Utc>>,
    /// The denials, in declared order, that time does not lift.
    pub lasting: Vec<Denial>,
}

/// Follows the gates' own retry times from `from` on, for a partition that nothing happens to meanwhile.
pub fn forecast(policy: &Policy, facts: &Facts<'_>, states: &GateStates, from: DateTime<Utc>) -> Forecast {
    // For one job: a gate that would rather wait until several may go at once lets one go at the first look that finds a token.
    let facts = Facts { pending: facts.pending.min(1), ..*facts };
    let mut at = from;
    for _ in 0..MOST_STEPS {
        let lasting: Vec<Denial> = (policy.gates().iter())
            .filter_map(|gate| match gate.evaluate(&facts, states.get(gate.name()), at) {
                Verdict::Deny(denial) if !lifts_by_itself(&denial) => Some(denial),
                _ => None,
            })
            .collect();
        if !lasting.is_empty() {
            return Forecast { at: None, lasting };
        }
        let decision = decide(policy, &facts, states, at);
        if decision.denial.is_none() {
            return Forecast { at: Some(at), lasting };
        }
        if decision.due <= at {
            break;
        }
        at = decision.due;
    }
    Forecast { at: None, lasting: Vec::new() }
}

/// Whether it is over at its retry time although nothing happens.
fn lifts_by_itself(denial: &Denial) -> bool {
    denial.event.is_none() && denial.reason != DenyReason::RateZero
}
