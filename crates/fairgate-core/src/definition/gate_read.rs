//! Reading a gate: a flat map whose keys depend on its `type`.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{DEFAULT_FULL_BACKOFF, GateDefinition, GateKind, ParamDefinition};
use crate::duration::parse_duration;
use crate::id::GateName;

const THROTTLE_KEYS: &[&str] = &["type", "name", "rate", "per", "burst"];
const CONCURRENCY_KEYS: &[&str] = &["type", "name", "max", "full_backoff"];
const NOT_AVAILABLE_YET: &[&str] = &["scope", "shadow"];

impl<'de> Deserialize<'de> for GateDefinition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(GateVisitor)
    }
}

struct GateVisitor;

impl<'de> Visitor<'de> for GateVisitor {
    type Value = GateDefinition;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a gate such as { type = \"concurrency\", max = 5 }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<GateDefinition, A::Error> {
        let mut keys = Keys::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "type" => keys.kind = Some(map.next_value()?),
                "name" => keys.name = Some(map.next_value()?),
                "rate" => keys.rate = Some(map.next_value()?),
                "per" => keys.per = Some(map.next_value()?),
                "burst" => keys.burst = Some(map.next_value()?),
                "max" => keys.max = Some(map.next_value()?),
                "full_backoff" => keys.full_backoff = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            keys.given.push(key);
        }
        keys.gate().map_err(A::Error::custom)
    }
}

/// The values of every key of every type, and the names of all keys that were given.
#[derive(Default)]
struct Keys {
    given: Vec<String>,
    kind: Option<String>,
    name: Option<GateName>,
    rate: Option<ParamDefinition>,
    per: Option<String>,
    burst: Option<ParamDefinition>,
    max: Option<ParamDefinition>,
    full_backoff: Option<String>,
}

impl Keys {
    fn gate(self) -> Result<GateDefinition, String> {
        let name = self.name.clone();
        let kind = self.kind()?;
        let name = name.unwrap_or_else(|| {
            let name = kind.type_name().parse();
            name.expect("every type name is a gate name")
        });
        Ok(GateDefinition { name, kind })
    }

    fn kind(self) -> Result<GateKind, String> {
        match self.kind.as_deref() {
            Some("throttle") => {
                self.only("throttle", THROTTLE_KEYS)?;
                Ok(GateKind::Throttle {
                    rate: required("throttle", "rate", self.rate)?,
                    per: duration("per", &required("throttle", "per", self.per)?)?,
                    burst: self.burst,
                })
            }
            Some("concurrency") => {
                self.only("concurrency", CONCURRENCY_KEYS)?;
                Ok(GateKind::Concurrency {
                    max: required("concurrency", "max", self.max)?,
                    full_backoff: match self.full_backoff {
                        Some(text) => duration("full_backoff", &text)?,
                        None => DEFAULT_FULL_BACKOFF,
                    },
                })
            }
            Some("adaptive_concurrency") => {
                Err("gates of type \"adaptive_concurrency\" are not available yet; use \"concurrency\""
                    .to_owned())
            }
            Some(other) => {
                Err(format!("there is no gate of type {other:?}; use \"throttle\" or \"concurrency\""))
            }
            None => Err("a gate needs `type`: \"throttle\" or \"concurrency\"".to_owned()),
        }
    }

    /// Refuses a key that gates of this type do not have.
    fn only(&self, kind: &str, known: &[&str]) -> Result<(), String> {
        let given = self.given.iter().map(String::as_str);
        let mut unknown = given.filter(|key| !known.contains(key));
        match unknown.next() {
            Some(key) if NOT_AVAILABLE_YET.contains(&key) => {
                Err(format!("`{key}` is not available yet; remove it"))
            }
            Some(key) => Err(format!("a {kind} gate has no `{key}`; its keys are {}", known.join(", "))),
            None => Ok(()),
        }
    }
}

fn required<T>(kind: &str, key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("a {kind} gate needs `{key}`"))
}

fn duration(key: &str, text: &str) -> Result<std::time::Duration, String> {
    parse_duration(text).map_err(|error| format!("`{key}`: {error}"))
}
