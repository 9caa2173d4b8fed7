//! A policy as plain data: what the configuration file says and what the database keeps.

mod adaptive;
mod fairness;
mod gate;
mod gate_read;
mod key;
mod param;
mod scope;

use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::duration::{format_duration, parse_duration};
use crate::id::QueueName;

pub use adaptive::{
    AdaptiveDefinition, DEFAULT_EWMA_ALPHA, DEFAULT_FAILURE_DECREASE_FACTOR, DEFAULT_MIN,
    DEFAULT_OVERLOAD_DECREASE_FACTOR,
};
pub use fairness::{DEFAULT_WEIGHT_PATH, FairnessDefinition};
pub use gate::{DEFAULT_FULL_BACKOFF, GateDefinition, GateKind};
pub use key::KeySource;
pub use param::ParamDefinition;
pub use scope::Scope;

/// Everything about a policy but its name. The JSON is stable: fields in this order, absent ones left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The queue that admitted jobs go to.
    pub queue: QueueName,
    /// What makes a partition.
    pub partition_by: KeySource,
    /// What groups partitions for one ticker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard_by: Option<KeySource>,
    /// What happens to a failed attempt.
    #[serde(default)]
    pub retry: Retry,
    /// How its partitions share.
    #[serde(default, skip_serializing_if = "FairnessDefinition::is_recent")]
    pub fairness: FairnessDefinition,
    /// The gates, in the order in which they are asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateDefinition>,
    /// Jobs a partition may get in one look when there is no tick budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission_batch_size: Option<u32>,
    /// How fast recent activity is forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness_half_life: Option<HalfLife>,
    /// Jobs that one tick of the policy may admit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tick_admission_budget: Option<u32>,
}

/// What happens to a failed attempt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// The queue retries on its own; the slot is held until final success or death.
    #[default]
    Bypass,
}

impl<'de> Deserialize<'de> for Retry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "bypass" => Ok(Self::Bypass),
            "restage" => Err(D::Error::custom(
                "retry = \"restage\" is not available yet; use \"bypass\", or leave it out",
            )),
            other => Err(D::Error::custom(format!("there is no retry {other:?}; use \"bypass\""))),
        }
    }
}

/// How fast recent activity is forgotten. JSON: `"none"` or a duration such as `"60s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfLife {
    /// Activity is not looked at: partitions are served in claim order.
    None,
    /// After this long half of it is forgotten.
    Of(Duration),
}

impl HalfLife {
    /// The duration, if activity counts.
    pub const fn duration(self) -> Option<Duration> {
        match self {
            Self::None => None,
            Self::Of(duration) => Some(duration),
        }
    }
}

impl fmt::Display for HalfLife {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Of(duration) => f.write_str(&format_duration(*duration)),
        }
    }
}

impl Serialize for HalfLife {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HalfLife {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text == "none" {
            return Ok(Self::None);
        }
        parse_duration(&text)
            .map(Self::Of)
            .map_err(|error| D::Error::custom(format!("a half-life is \"none\" or a duration: {error}")))
    }
}
