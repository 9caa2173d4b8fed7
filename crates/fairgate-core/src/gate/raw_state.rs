//! A gate's state as it is stored.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A gate's stored state: JSON that only the gate reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawState(Box<RawValue>);

impl RawState {
    /// The JSON text.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    pub(super) fn write<T: Serialize>(state: &T) -> Self {
        let raw = serde_json::value::to_raw_value(state);
        Self(raw.expect("a state is a struct of numbers and strings"))
    }

    /// The state, or `None` when it is not one.
    pub(super) fn read<'de, T: Deserialize<'de>>(&'de self) -> Option<T> {
        serde_json::from_str(self.as_json()).ok()
    }
}

impl From<Box<RawValue>> for RawState {
    fn from(json: Box<RawValue>) -> Self {
        Self(json)
    }
}
