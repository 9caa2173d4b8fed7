//! A gate as data.

use std::time::Duration;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{AdaptiveDefinition, ParamDefinition, Scope};
use crate::duration::format_duration;
use crate::id::GateName;

/// When a full concurrency gate is looked at again at the latest, unless the gate says otherwise.
pub const DEFAULT_FULL_BACKOFF: Duration = Duration::from_secs(1);

/// A gate. JSON: `{"type": "throttle", "name": .., "rate": .., "per": "1m", "burst": .., "scope": "account_id", "shadow": true}`,
/// `{"type": "concurrency", "name": .., "max": .., "full_backoff": "1s", ..}` or that of [`AdaptiveDefinition`]. A name left out is
/// the type; the scope of a partition and a false `shadow` are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct GateDefinition {
    /// Its name within the policy, which its stored state follows.
    pub name: GateName,
    /// What it does.
    pub kind: GateKind,
    /// Whose jobs it counts together; that of an adaptive gate is the partition.
    pub scope: Scope,
    /// Whether it only counts what it would have denied.
    pub shadow: bool,
}

/// What a gate does.
#[derive(Debug, Clone, PartialEq)]
pub enum GateKind {
    /// At most `rate` jobs per `per`, and `burst` at once.
    Throttle {
        /// Jobs per `per`.
        rate: ParamDefinition,
        /// The time that `rate` is for.
        per: Duration,
        /// Jobs at once; the rate (at least one) when left out.
        burst: Option<ParamDefinition>,
    },
    /// At most `max` jobs in flight.
    Concurrency {
        /// Jobs in flight.
        max: ParamDefinition,
        /// When to look again, at the latest, after it was full.
        full_backoff: Duration,
    },
    /// At most as many jobs in flight as a cap that follows their lag.
    Adaptive(AdaptiveDefinition),
}

impl GateKind {
    /// `throttle`, `concurrency` or `adaptive_concurrency`: the `type` in the configuration, and the default name.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Throttle { .. } => "throttle",
            Self::Concurrency { .. } => "concurrency",
            Self::Adaptive(_) => "adaptive_concurrency",
        }
    }
}

impl Serialize for GateDefinition {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("type", self.kind.type_name())?;
        map.serialize_entry("name", &self.name)?;
        match &self.kind {
            GateKind::Throttle { rate, per, burst } => {
                map.serialize_entry("rate", rate)?;
                map.serialize_entry("per", &format_duration(*per))?;
                if let Some(burst) = burst {
                    map.serialize_entry("burst", burst)?;
                }
            }
            GateKind::Concurrency { max, full_backoff } => {
                map.serialize_entry("max", max)?;
                map.serialize_entry("full_backoff", &format_duration(*full_backoff))?;
            }
            GateKind::Adaptive(gate) => gate.write(&mut map)?,
        }
        if self.scope != Scope::Partition {
            map.serialize_entry("scope", &self.scope)?;
        }
        if self.shadow {
            map.serialize_entry("shadow", &true)?;
        }
        map.end()
    }
}
