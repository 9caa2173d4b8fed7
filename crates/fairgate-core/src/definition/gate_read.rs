//! Reading a gate: a flat map whose keys depend on its `type`.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{AdaptiveDefinition, DEFAULT_FULL_BACKOFF, GateDefinition, GateKind, ParamDefinition, Scope};
use crate::duration::parse_duration;
use crate::id::GateName;

const TYPES: &str = "\"throttle\", \"concurrency\" or \"adaptive_concurrency\"";
const THROTTLE_KEYS: &[&str] = &["type", "name", "rate", "per", "burst", "scope", "shadow"];
const CONCURRENCY_KEYS: &[&str] = &["type", "name", "max", "full_backoff", "scope", "shadow"];
const ADAPTIVE_KEYS: &[&str] = &[
    "type",
    "name",
    "initial_max",
    "target_lag_ms",
    "min",
    "max",
    "ewma_alpha",
    "failure_decrease_factor",
    "overload_decrease_factor",
    "full_backoff",
    "every_job",
    "shadow",
];

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
                "initial_max" => keys.initial_max = Some(map.next_value()?),
                "target_lag_ms" => keys.target_lag_ms = Some(map.next_value()?),
                "min" => keys.min = Some(map.next_value()?),
                "ewma_alpha" => keys.ewma_alpha = Some(map.next_value()?),
                "failure_decrease_factor" => keys.failure_decrease_factor = Some(map.next_value()?),
                "overload_decrease_factor" => keys.overload_decrease_factor = Some(map.next_value()?),
                "every_job" => keys.every_job = map.next_value()?,
                "scope" => keys.scope = map.next_value()?,
                "shadow" => keys.shadow = map.next_value()?,
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
    initial_max: Option<ParamDefinition>,
    target_lag_ms: Option<ParamDefinition>,
    min: Option<ParamDefinition>,
    ewma_alpha: Option<f64>,
    failure_decrease_factor: Option<f64>,
    overload_decrease_factor: Option<f64>,
    every_job: bool,
    scope: Scope,
    shadow: bool,
}

impl Keys {
    fn gate(self) -> Result<GateDefinition, String> {
        let (name, scope, shadow) = (self.name.clone(), self.scope.clone(), self.shadow);
        let kind = self.kind()?;
        let name = name.unwrap_or_else(|| {
            let name = kind.type_name().parse();
            name.expect("every type name is a gate name")
        });
        Ok(GateDefinition { name, kind, scope, shadow })
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
                if self.given.iter().any(|key| key == "scope") {
                    return Err(format!("`scope`: {}", AdaptiveDefinition::NO_SCOPE));
                }
                self.only("adaptive_concurrency", ADAPTIVE_KEYS)?;
                self.adaptive().map(GateKind::Adaptive)
            }
            Some(other) => Err(format!("there is no gate of type {other:?}; use {TYPES}")),
            None => Err(format!("a gate needs `type`: {TYPES}")),
        }
    }

    fn adaptive(self) -> Result<AdaptiveDefinition, String> {
        let kind = "adaptive_concurrency";
        let initial_max = required(kind, "initial_max", self.initial_max)?;
        let target_lag_ms = required(kind, "target_lag_ms", self.target_lag_ms)?;
        let default = AdaptiveDefinition::new(initial_max, target_lag_ms);
        Ok(AdaptiveDefinition {
            min: self.min.unwrap_or(default.min),
            max: self.max,
            ewma_alpha: self.ewma_alpha.unwrap_or(default.ewma_alpha),
            failure_decrease_factor: self.failure_decrease_factor.unwrap_or(default.failure_decrease_factor),
            overload_decrease_factor: self
                .overload_decrease_factor
                .unwrap_or(default.overload_decrease_factor),
            full_backoff: match self.full_backoff {
                Some(text) => duration("full_backoff", &text)?,
                None => default.full_backoff,
            },
            every_job: self.every_job,
            ..default
        })
    }

    /// Refuses a key that gates of this type do not have.
    fn only(&self, kind: &str, known: &[&str]) -> Result<(), String> {
        let given = self.given.iter().map(String::as_str);
        let mut unknown = given.filter(|key| !known.contains(key));
        match unknown.next() {
            Some(key) => {
                let keys = known.join(", ");
                Err(format!("{} {kind} gate has no `{key}`; its keys are {keys}", article(kind)))
            }
            None => Ok(()),
        }
    }
}

fn required<T>(kind: &str, key: &str, value: Option<T>) -> Result<T, String> {
    value.ok_or_else(|| format!("{} {kind} gate needs `{key}`", article(kind)))
}

fn article(kind: &str) -> &'static str {
    if kind.starts_with('a') { "an" } else { "a" }
}

fn duration(key: &str, text: &str) -> Result<std::time::Duration, String> {
    parse_duration(text).map_err(|error| format!("`{key}`: {error}"))
}
