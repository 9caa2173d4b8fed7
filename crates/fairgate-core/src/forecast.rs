//! When a partition's next job may go, by the code that decides it.

use chrono::{DateTime, Utc};

use crate::gate::Facts;
use crate::overrides::Overrides;
use crate::pipeline::{GateStates, decide};
use crate::policy::Policy;
use crate::reason::DenyReason;
use crate::tick_plan::{HeldScope, assess_scope};
use crate::time::{instant, micros};
use crate::verdict::{Denial, Verdict};

/// A wait of more than this many microseconds (about 570 years) counts as for ever.
const FOR_EVER: i64 = 1 << 54;

/// What the gates of a partition will say if nothing happens to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The first instant, not before the start, at which a look lets a job go, if it is the first look from the start on. `None`: time alone does
    /// not bring it.
    pub at: Option<DateTime<Utc>>,
    /// The denials, in declared order, that time does not lift.
    pub lasting: Vec<Denial>,
}

/// Asks the gates of a partition that nothing happens to from `from` on, except those that count more than the partition, for which see
/// [`forecast_scope`]. What time gives it does not take away again, so the instant is found
/// by halving, with the gates as the only judge.
pub fn forecast(policy: &Policy, facts: &Facts<'_>, states: &GateStates, from: DateTime<Utc>) -> Forecast {
    let lasting: Vec<Denial> = (policy.gates().iter())
        .filter(|gate| !gate.is_shadow() && !gate.is_asked_of_scope(facts.context, from))
        .filter_map(|gate| match gate.evaluate(facts, states.get(gate.name()), from) {
            Verdict::Deny(denial) if !lifts_by_itself(&denial) => Some(denial),
            _ => None,
        })
        .collect();
    let admits = |at| decide(policy, facts, states, at).denial.is_none();
    let at = if lasting.is_empty() { first_instant(from, admits) } else { None };
    Forecast { at, lasting }
}

/// The same of a scope, when nothing happens to it.
pub fn forecast_scope(policy: &Policy, scope: &HeldScope, from: DateTime<Utc>) -> Forecast {
    let denial = |at| match assess_scope(policy, scope, at).verdict {
        Verdict::Deny(denial) => Some(denial),
        Verdict::Admit(_) => None,
    };
    let lasting: Vec<Denial> = denial(from).filter(|denial| !lifts_by_itself(denial)).into_iter().collect();
    let at = if lasting.is_empty() { first_instant(from, |at| denial(at).is_none()) } else { None };
    Forecast { at, lasting }
}

/// The same for a partition with overrides: an end among them is an instant at which the limits are others. `states` are those of its last
/// look.
pub fn forecast_under(
    policy: &Policy,
    overrides: &Overrides,
    facts: &Facts<'_>,
    states: &GateStates,
    mut from: DateTime<Utc>,
) -> Forecast {
    let mut states = overrides.carry(policy, facts, states.clone(), None, from);
    loop {
        let seen = forecast(&overrides.in_force(policy, from), facts, &states, from);
        let Some(end) = overrides.next_end(from).filter(|end| seen.at.is_none_or(|at| at >= *end)) else {
            return seen;
        };
        states = overrides.carry(policy, facts, states, Some(from), end);
        from = end;
    }
}

fn first_instant(from: DateTime<Utc>, admits: impl Fn(DateTime<Utc>) -> bool) -> Option<DateTime<Utc>> {
    let after = |wait: i64| instant(i128::from(micros(from)) + i128::from(wait)).max(from);
    if admits(from) {
        return Some(from);
    }
    let (mut denied, mut admitted) = (0, 1);
    while !admits(after(admitted)) {
        (denied, admitted) = (admitted, admitted * 2);
        if admitted > FOR_EVER {
            return None;
        }
    }
    while admitted - denied > 1 {
        let middle = denied + (admitted - denied) / 2;
        *(if admits(after(middle)) { &mut admitted } else { &mut denied }) = middle;
    }
    Some(after(admitted))
}

/// Whether it is over at its retry time although nothing happens.
fn lifts_by_itself(denial: &Denial) -> bool {
    denial.event.is_none() && denial.reason != DenyReason::RateZero
}
