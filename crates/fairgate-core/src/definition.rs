//! A policy as plain data: what the configuration file says and what the database keeps.

mod adaptive;
mod dedupe;
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
pub use dedupe::{Dedupe, DedupeUntil, OnConflict};
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
    /// What happens to a failed attempt; `None`: restage where the queue shows failures, else bypass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Jobs of a partition that may wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pending: Option<u32>,
    /// What a dedupe key does; the default is [`Dedupe::default`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<Dedupe>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// It goes back through staging with the queue's back-off, so that the gates apply to it too.
    Restage,
    /// The queue retries on its own; the slot is held until final success or death.
    Bypass,
}

impl Retry {
    /// The word in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Restage => "restage",
            Self::Bypass => "bypass",
        }
    }
}

impl<'de> Deserialize<'de> for Retry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "restage" => Ok(Self::Restage),
            "bypass" => Ok(Self::Bypass),
            other => {
                Err(D::Error::custom(format!("there is no retry {other:?}; use \"restage\" or \"bypass\"")))
            }
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
