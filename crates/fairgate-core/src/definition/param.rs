//! A gate's number as data.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::context::Path;

/// JSON: a number, `{"from": "limits.rate", "default": 5}`, or `{"computed": true}`.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamDefinition {
    /// The same for every partition.
    Fixed(f64),
    /// Read from the context.
    From {
        /// Where it stands.
        path: Path,
        /// What counts when it is absent or null.
        default: Option<f64>,
    },
    /// A closure, in the processes that have it.
    Computed,
}

impl Serialize for ParamDefinition {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(number) => to.serialize_f64(*number),
            Self::From { path, default } => {
                let mut map = to.serialize_map(None)?;
                map.serialize_entry("from", path)?;
                if let Some(default) = default {
                    map.serialize_entry("default", default)?;
                }
                map.end()
            }
            Self::Computed => super::key::computed(to),
        }
    }
}

impl<'de> Deserialize<'de> for ParamDefinition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ParamVisitor)
    }
}

struct ParamVisitor;

impl<'de> Visitor<'de> for ParamVisitor {
    type Value = ParamDefinition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or { from = \"path\", default = 5 }")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<ParamDefinition, E> {
        Ok(ParamDefinition::Fixed(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<ParamDefinition, E> {
        Ok(ParamDefinition::Fixed(number as f64))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<ParamDefinition, E> {
        Ok(ParamDefinition::Fixed(number as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ParamDefinition, A::Error> {
        let (mut path, mut default, mut computed) = (None, None, false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "from" => path = Some(map.next_value::<Path>()?),
                "default" => default = map.next_value::<Option<f64>>()?,
                "computed" => computed = map.next_value()?,
                _ => return Err(A::Error::unknown_field(&key, &["from", "default"])),
            }
        }
        match (path, computed, default) {
            (Some(path), false, default) => Ok(ParamDefinition::From { path, default }),
            (None, true, None) => Ok(ParamDefinition::Computed),
            _ => {
                Err(A::Error::custom("a number from the context is written { from = \"path\", default = 5 }"))
            }
        }
    }
}
