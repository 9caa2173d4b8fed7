//! An adaptive concurrency gate as data.

use std::time::Duration;

use serde::ser::SerializeMap;

use super::{DEFAULT_FULL_BACKOFF, ParamDefinition};
use crate::duration::format_duration;

/// The smallest cap, unless the gate says otherwise.
pub const DEFAULT_MIN: f64 = 1.0;
/// The weight of the newest lag in the average, unless the gate says otherwise.
pub const DEFAULT_EWMA_ALPHA: f64 = 0.5;
/// What a failed job leaves of the cap, unless the gate says otherwise.
pub const DEFAULT_FAILURE_DECREASE_FACTOR: f64 = 0.5;
/// What a lag above the target leaves of the cap, unless the gate says otherwise.
pub const DEFAULT_OVERLOAD_DECREASE_FACTOR: f64 = 0.95;

/// The numbers of an adaptive concurrency gate. The JSON is that of the gate: `{"type": "adaptive_concurrency", "name": ..,
/// "initial_max": .., "target_lag_ms": .., "min": 1, "max": .., "ewma_alpha": 0.5, "failure_decrease_factor": 0.5,
/// "overload_decrease_factor": 0.95, "full_backoff": "1s", "every_job": true}`; `max` and a false `every_job` are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptiveDefinition {
    /// The cap that a partition begins with, in jobs.
    pub initial_max: ParamDefinition,
    /// The lag to aim at, in milliseconds from admission to start.
    pub target_lag_ms: ParamDefinition,
    /// The smallest cap.
    pub min: ParamDefinition,
    /// The largest cap; none when left out.
    pub max: Option<ParamDefinition>,
    /// The weight of the newest lag in the average.
    pub ewma_alpha: f64,
    /// What a failed job leaves of the cap.
    pub failure_decrease_factor: f64,
    /// What a lag above the target leaves of the cap.
    pub overload_decrease_factor: f64,
    /// When to look again, at the latest, after it was full.
    pub full_backoff: Duration,
    /// Whether every job moves the cap, instead of one a generation.
    pub every_job: bool,
}

impl AdaptiveDefinition {
    /// Why it has no scope, and what to do.
    pub const NO_SCOPE: &str = "an adaptive cap follows the lag of one partition and takes no scope; remove it, or use \"concurrency\"";

    /// A gate with these two numbers and the defaults.
    pub const fn new(initial_max: ParamDefinition, target_lag_ms: ParamDefinition) -> Self {
        Self {
            initial_max,
            target_lag_ms,
            min: ParamDefinition::Fixed(DEFAULT_MIN),
            max: None,
            ewma_alpha: DEFAULT_EWMA_ALPHA,
            failure_decrease_factor: DEFAULT_FAILURE_DECREASE_FACTOR,
            overload_decrease_factor: DEFAULT_OVERLOAD_DECREASE_FACTOR,
            full_backoff: DEFAULT_FULL_BACKOFF,
            every_job: false,
        }
    }

    pub(super) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("initial_max", &self.initial_max)?;
        map.serialize_entry("target_lag_ms", &self.target_lag_ms)?;
        map.serialize_entry("min", &self.min)?;
        if let Some(max) = &self.max {
            map.serialize_entry("max", max)?;
        }
        map.serialize_entry("ewma_alpha", &self.ewma_alpha)?;
        map.serialize_entry("failure_decrease_factor", &self.failure_decrease_factor)?;
        map.serialize_entry("overload_decrease_factor", &self.overload_decrease_factor)?;
        map.serialize_entry("full_backoff", &format_duration(self.full_backoff))?;
        if self.every_job {
            map.serialize_entry("every_job", &true)?;
        }
        Ok(())
    }
}
