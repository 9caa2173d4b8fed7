//! How the partitions of a policy share, as data.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ParamDefinition;
use crate::fairness::weighted::Cost;

/// Where a weight stands in the context unless the policy says otherwise; without one a partition weighs 1.
pub const DEFAULT_WEIGHT_PATH: &str = "weight";

/// How the partitions of a policy share. JSON: `"recent"`, `"weighted"`, or
/// `{"mode": "weighted", "cost": "jobs", "weight": {"from": "weight", "default": 1.0}}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum FairnessDefinition {
    /// Who was served least lately is served first.
    #[default]
    Recent,
    /// In proportion to weights.
    Weighted {
        /// What a job costs.
        cost: Cost,
        /// A partition's weight.
        weight: ParamDefinition,
    },
}

impl FairnessDefinition {
    /// By weights at `weight` in the context, in jobs.
    pub fn weighted() -> Self {
        Self::Weighted { cost: Cost::default(), weight: default_weight() }
    }

    /// Whether it is the default.
    pub(super) fn is_recent(&self) -> bool {
        *self == Self::Recent
    }
}

fn default_weight() -> ParamDefinition {
    let path = DEFAULT_WEIGHT_PATH.parse().expect("one word is a path");
    ParamDefinition::From { path, default: Some(1.0) }
}

const fn cost_name(cost: Cost) -> &'static str {
    match cost {
        Cost::Jobs => "jobs",
        Cost::Time => "time",
    }
}

impl Serialize for FairnessDefinition {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Recent => to.serialize_str("recent"),
            Self::Weighted { cost, weight } => {
                let mut map = to.serialize_map(Some(3))?;
                map.serialize_entry("mode", "weighted")?;
                map.serialize_entry("cost", cost_name(*cost))?;
                map.serialize_entry("weight", weight)?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for FairnessDefinition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(FairnessVisitor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    mode: String,
    cost: Option<String>,
    weight: Option<ParamDefinition>,
}

struct FairnessVisitor;

impl<'de> Visitor<'de> for FairnessVisitor {
    type Value = FairnessDefinition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"recent\", \"weighted\" or a table such as { mode = \"weighted\", cost = \"time\" }")
    }

    fn visit_str<E: Error>(self, mode: &str) -> Result<FairnessDefinition, E> {
        match mode {
            "recent" => Ok(FairnessDefinition::Recent),
            "weighted" => Ok(FairnessDefinition::weighted()),
            other => {
                Err(E::custom(format!("there is no fairness {other:?}; use \"recent\" or \"weighted\"")))
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FairnessDefinition, A::Error> {
        let table = Table::deserialize(MapAccessDeserializer::new(map))?;
        match (self.visit_str::<A::Error>(&table.mode)?, &table.cost, &table.weight) {
            (FairnessDefinition::Recent, None, None) => return Ok(FairnessDefinition::Recent),
            (FairnessDefinition::Recent, ..) => {
                return Err(A::Error::custom("mode \"recent\" has neither `cost` nor `weight`; remove them"));
            }
            (FairnessDefinition::Weighted { .. }, ..) => {}
        }
        let cost = match table.cost.as_deref() {
            None | Some("jobs") => Cost::Jobs,
            Some("time") => Cost::Time,
            Some(other) => {
                let message = format!("there is no cost {other:?}; use \"jobs\" or \"time\"");
                return Err(A::Error::custom(message));
            }
        };
        Ok(FairnessDefinition::Weighted { cost, weight: table.weight.unwrap_or_else(default_weight) })
    }
}
