//! All gates of a policy, asked in declared order and charged together: one decision for a partition.

mod states;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::gate::{Assessment, Facts, Gate, Observation};
use crate::id::GateName;
use crate::policy::Policy;
use crate::verdict::{Denial, Verdict};

pub use states::GateStates;

/// What the gates of a policy allow a partition at one instant.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Jobs that may go: the smallest allowance, zero when a gate denies, `u64::MAX` without gates.
    pub allowance: u64,
    /// The answer of the first gate, in declared order, that denies.
    pub denial: Option<Denial>,
    /// When to ask again if nothing happens earlier: `now` when nothing denies, else the latest retry time of all denials.
    pub due: DateTime<Utc>,
    /// The latest retry time of the denials that a finished job does not lift; a finish must not bring the next look
    /// forward past it. `None` when no such gate denies.
    pub eligible_at: Option<DateTime<Utc>>,
    /// The caps on jobs in flight that are in force, by gate; those of shadow gates are not.
    pub limits: BTreeMap<GateName, f64>,
    /// The answers of the shadow gates that would have denied, in declared order. They change nothing above.
    pub shadow_denials: Vec<Denial>,
    assessments: Vec<(GateName, Assessment)>,
}

/// Asks every gate, also after one has denied, so that the decision knows the latest retry time. A gate of a coarser scope is not asked
/// here but by the plan, once for all partitions of a scope; a context that does not say which scope denies here.
pub fn decide(policy: &Policy, facts: &Facts<'_>, states: &GateStates, now: DateTime<Utc>) -> Decision {
    let mut decision = Decision {
        allowance: u64::MAX,
        denial: None,
        due: now,
        eligible_at: None,
        limits: BTreeMap::new(),
        shadow_denials: Vec::new(),
        assessments: Vec::with_capacity(policy.gates().len()),
    };
    for gate in policy.gates() {
        if gate.is_asked_of_scope(facts.context, now) {
            continue;
        }
        let assessment = gate.assess(facts, states.get(gate.name()), now);
        decision.add(gate, assessment);
    }
    decision
}

impl Decision {
    fn add(&mut self, gate: &Gate, assessment: Assessment) {
        if assessment.shadow {
            if let Verdict::Deny(denial) = &assessment.verdict {
                self.shadow_denials.push(denial.clone());
            }
        } else {
            self.enforce(gate, &assessment);
        }
        self.assessments.push((gate.name().clone(), assessment));
    }

    fn enforce(&mut self, gate: &Gate, assessment: &Assessment) {
        if let Some(limit) = assessment.limit {
            self.limits.insert(gate.name().clone(), limit);
        }
        match &assessment.verdict {
            Verdict::Admit(allowance) => self.allowance = self.allowance.min(allowance.get()),
            Verdict::Deny(denial) => {
                self.allowance = 0;
                self.due = self.due.max(denial.until);
                if denial.is_time_based() {
                    self.eligible_at = self.eligible_at.max(Some(denial.until));
                }
                if self.denial.is_none() {
                    self.denial = Some(denial.clone());
                }
            }
        }
    }

    /// The state of every gate after `taken` jobs were really admitted. States of gates that are gone are left out.
    pub fn settle(&self, taken: u64, now: DateTime<Utc>) -> GateStates {
        self.assessments
            .iter()
            .filter_map(|(name, assessment)| Some((name.clone(), assessment.settle(taken, now)?)))
            .collect()
    }

    /// The limits as the text of a JSON object, gate name to number, whole numbers without a fraction.
    pub fn limits_json(&self) -> String {
        let number = |limit: f64| {
            // Below 2^53 a whole float is exactly this integer.
            if limit < 9_007_199_254_740_992.0 { Value::from(limit as u64) } else { Value::from(limit) }
        };
        let limits = self.limits.iter();
        let map: Map<String, Value> = limits.map(|(k, v)| (k.to_string(), number(*v))).collect();
        Value::Object(map).to_string()
    }
}

/// The states with what was seen of jobs that ended since they were stored: what [`decide`] is asked with. The order of the
/// observations does not matter.
pub fn observe(
    policy: &Policy,
    context: &Context,
    mut states: GateStates,
    mut observations: Vec<Observation>,
    now: DateTime<Utc>,
) -> GateStates {
    if observations.is_empty() {
        return states;
    }
    observations.sort_by(Observation::fold_order);
    for gate in policy.gates() {
        let name = gate.name();
        if let Some(state) = gate.observe(context, states.get(name), &observations, now) {
            states.set(name.clone(), state);
        }
    }
    states
}

/// Whether forgetting the states of a partition loses nothing: every bucket is full again, by the limits stored with it.
pub fn at_rest(policy: &Policy, states: &GateStates, now: DateTime<Utc>) -> bool {
    policy.gates().iter().all(|gate| states.get(gate.name()).is_none_or(|state| gate.at_rest(state, now)))
}
