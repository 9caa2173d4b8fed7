//! The stored states of a partition's gates.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::gate::{RawState, throttle};
use crate::id::GateName;

/// The stored states of a partition's gates, by name. A gate without one is new.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub struct GateStates(BTreeMap<GateName, RawState>);

impl GateStates {
    /// Reads the text of a JSON object. What is not one counts as no states: the tick must go on.
    pub fn parse(text: Option<&str>) -> Self {
        let read = |text| serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text).ok();
        text.and_then(read)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(name, state)| Some((GateName::try_from(name).ok()?, state.into())))
            .collect()
    }

    /// The text of a JSON object, gate name to state; `{}` when there is none.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("names and JSON texts can be written")
    }

    /// The state of a gate.
    pub fn get(&self, gate: &GateName) -> Option<&RawState> {
        self.0.get(gate)
    }

    pub(crate) fn set(&mut self, gate: GateName, state: RawState) {
        self.0.insert(gate, state);
    }

    /// Whether forgetting all of them loses nothing: every bucket is full again, by the limits stored with it.
    pub fn at_rest(&self, now: DateTime<Utc>) -> bool {
        self.0.values().all(|state| throttle::State::read(state).is_none_or(|state| state.is_full(now)))
    }

    /// Whether no gate has a state.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(GateName, RawState)> for GateStates {
    fn from_iter<I: IntoIterator<Item = (GateName, RawState)>>(states: I) -> Self {
        Self(states.into_iter().collect())
    }
}
