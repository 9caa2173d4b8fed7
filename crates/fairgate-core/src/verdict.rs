//! What a gate answers.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::gate::BadScope;
use crate::id::GateName;
use crate::param::BadParam;
use crate::reason::DenyReason;

/// What a gate answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// So many jobs may go now: at least one.
    Admit(Allowance),
    /// None may go now.
    Deny(Denial),
}

/// How many jobs may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Allowance(pub u64);

impl Allowance {
    /// The number of jobs.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Why none may go, and before which instant asking again is pointless.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Denial {
    /// The gate that denies; `None` when it was not a gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateName>,
    /// Why.
    pub reason: DenyReason,
    /// How much of the limit is used, in jobs: tokens gone from the bucket, or jobs in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
    /// The limit, in jobs: the burst of a throttle, the `max` of a concurrency gate, the cap of an adaptive one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// When to ask this gate again if nothing happens earlier.
    pub until: DateTime<Utc>,
    /// What may let jobs go earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<WakeEvent>,
    /// The number that could not be used, for [`DenyReason::BadParameter`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad: Option<BadNumber>,
    /// What the context says instead of a scope, for [`DenyReason::BadScope`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bad_scope: Option<BadScope>,
}

/// A number of a gate that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadNumber {
    /// The parameter: `rate`, `burst`, `max`, `target_lag_ms`.
    pub parameter: &'static str,
    /// What is wrong with it.
    pub problem: BadParam,
}

/// What a denied partition waits for besides time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WakeEvent {
    /// A job of the partition finishes.
    Finish,
    /// The partition gets a newer context.
    ContextChange,
}

impl Denial {
    /// A denial that names neither gate nor numbers.
    pub const fn new(reason: DenyReason, until: DateTime<Utc>) -> Self {
        Self { gate: None, reason, used: None, limit: None, until, event: None, bad: None, bad_scope: None }
    }

    /// Whether only time lifts it, whatever finishes meanwhile.
    pub fn is_time_based(&self) -> bool {
        self.event != Some(WakeEvent::Finish)
    }
}

impl fmt::Display for Denial {
    /// One line: `gate per_minute: rate limit reached, 10 of 10 used`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(gate) = &self.gate {
            write!(f, "gate {gate}: ")?;
        }
        f.write_str(self.reason.label())?;
        if let (Some(used), Some(limit)) = (self.used, self.limit) {
            write!(f, ", {used} of {limit} used")?;
        }
        if let Some(bad) = &self.bad {
            write!(f, ", `{}`: {}", bad.parameter, bad.problem)?;
        }
        if let Some(bad) = &self.bad_scope {
            write!(f, ", {bad}")?;
        }
        Ok(())
    }
}
