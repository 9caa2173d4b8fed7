//! Limits of one partition that somebody overrode for a while.
//!
//! An override takes the place of one number of one gate until an instant, and changes nothing else: the gates are those of the policy with
//! that number fixed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::gate::{Facts, Gate};
use crate::id::GateName;
use crate::pipeline::GateStates;
use crate::policy::Policy;

/// A number in the place of a gate's own, for a while. JSON: `["throttle", "rate", 5.0, 1700000000000000]`: gate, parameter, value, and
/// the end in microseconds since the epoch.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    /// The gate.
    pub gate: GateName,
    /// One of [`Gate::parameters`].
    pub parameter: String,
    /// Finite and not negative; in the parameter's own unit.
    pub value: f64,
    /// From this instant on the gate's own number counts again.
    pub until: DateTime<Utc>,
}

impl<'de> Deserialize<'de> for Override {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let (gate, parameter, value, until): (String, String, f64, i64) = Deserialize::deserialize(from)?;
        if !value.is_finite() || value < 0.0 {
            return Err(D::Error::custom("the value is negative or not finite"));
        }
        let until = DateTime::from_timestamp_micros(until)
            .ok_or_else(|| D::Error::custom("the end is out of range"))?;
        let gate = GateName::try_from(gate).map_err(D::Error::custom)?;
        Ok(Self { gate, parameter, value, until })
    }
}

/// The overrides of one partition: those in force, and those that have ended since it was looked at last. One of a gate or parameter that the
/// policy does not have (any more) changes nothing.
#[derive(Debug, Clone, Default)]
pub struct Overrides(Vec<Override>);

impl Overrides {
    /// Reads the text of a JSON array. Elements that cannot be read are left out: the tick must go on.
    pub fn parse(text: Option<&str>) -> Self {
        let elements = text.and_then(|text| serde_json::from_str::<Vec<&RawValue>>(text).ok());
        let elements = elements.unwrap_or_default().into_iter();
        Self(elements.filter_map(|element| serde_json::from_str(element.get()).ok()).collect())
    }

    /// Whether the policy stands as it is, now and since the last look.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first end after `at`: the next instant at which limits change.
    pub fn next_end(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.0.iter().map(|one| one.until).filter(|until| *until > at).min()
    }

    /// The policy as it is in force at `at`.
    pub fn in_force(&self, policy: &Policy, at: DateTime<Utc>) -> Policy {
        policy.with_overrides(self.0.iter().filter(|one| one.until > at))
    }

    /// The states at `to` of a partition that nobody looked at since `from` (`None`: since it is there): what accrued until an end accrued under
    /// the limits until then, however late the look is.
    pub fn carry(
        &self,
        policy: &Policy,
        facts: &Facts<'_>,
        mut states: GateStates,
        from: Option<DateTime<Utc>>,
        to: DateTime<Utc>,
    ) -> GateStates {
        let passed = |until: &DateTime<Utc>| from.is_none_or(|from| *until > from) && *until <= to;
        let mut ends: Vec<DateTime<Utc>> = self.0.iter().map(|one| one.until).filter(passed).collect();
        ends.sort_unstable();
        ends.dedup();
        for end in ends {
            let before = policy.with_overrides(self.0.iter().filter(|one| one.until >= end));
            for rules in [before, self.in_force(policy, end)] {
                for gate in rules.gates().iter().filter(|gate| matches!(gate, Gate::Throttle(_))) {
                    let Some(state) = states.get(gate.name()) else { continue };
                    if let Some(state) = gate.assess(facts, Some(state), end).settle(0, end) {
                        states.set(gate.name().clone(), state);
                    }
                }
            }
        }
        states
    }
}

impl FromIterator<Override> for Overrides {
    fn from_iter<I: IntoIterator<Item = Override>>(overrides: I) -> Self {
        Self(overrides.into_iter().collect())
    }
}
