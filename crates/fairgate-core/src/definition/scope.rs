//! Whose jobs a gate counts together, as data.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::context::{Path, PathError};

/// Whose jobs a gate counts together. JSON: `"partition"`, `"policy"`, or a context path; the two words are never paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those of the partition.
    #[default]
    Partition,
    /// Those of the whole policy, across all shards.
    Policy,
    /// Those of all partitions whose newest contexts have the same value at the path.
    Path(Path),
}

impl FromStr for Scope {
    type Err = PathError;
    fn from_str(text: &str) -> Result<Self, PathError> {
        match text {
            "partition" => Ok(Self::Partition),
            "policy" => Ok(Self::Policy),
            path => path.parse().map(Self::Path),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Partition => f.write_str("partition"),
            Self::Policy => f.write_str("policy"),
            Self::Path(path) => path.fmt(f),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scope {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(|error| D::Error::custom(format!("`scope`: {error}")))
    }
}
