//! An adaptive concurrency gate being written.

use std::time::Duration;

use super::{CommonDraft, ParamDraft};
use crate::context::Context;
use crate::definition::{
    AdaptiveDefinition, DEFAULT_EWMA_ALPHA, DEFAULT_FAILURE_DECREASE_FACTOR, DEFAULT_OVERLOAD_DECREASE_FACTOR,
};

/// An adaptive concurrency gate being written. `initial_max` and `target_lag_ms` are required.
#[derive(Debug, Clone)]
pub struct AdaptiveBuilder {
    pub(in crate::policy) common: CommonDraft,
    pub(in crate::policy) initial_max: Option<ParamDraft>,
    pub(in crate::policy) target_lag_ms: Option<ParamDraft>,
    pub(in crate::policy) min: Option<ParamDraft>,
    pub(in crate::policy) max: Option<ParamDraft>,
    pub(in crate::policy) ewma_alpha: f64,
    pub(in crate::policy) failure_decrease_factor: f64,
    pub(in crate::policy) overload_decrease_factor: f64,
    pub(in crate::policy) full_backoff: Option<Duration>,
    pub(in crate::policy) every_job: bool,
}

impl Default for AdaptiveBuilder {
    fn default() -> Self {
        Self {
            common: CommonDraft::default(),
            initial_max: None,
            target_lag_ms: None,
            min: None,
            max: None,
            ewma_alpha: DEFAULT_EWMA_ALPHA,
            failure_decrease_factor: DEFAULT_FAILURE_DECREASE_FACTOR,
            overload_decrease_factor: DEFAULT_OVERLOAD_DECREASE_FACTOR,
            full_backoff: None,
            every_job: false,
        }
    }
}

impl AdaptiveBuilder {
    pub(super) fn of(common: CommonDraft, gate: AdaptiveDefinition) -> Self {
        Self {
            common,
            initial_max: Some(ParamDraft::from_definition(gate.initial_max)),
            target_lag_ms: Some(ParamDraft::from_definition(gate.target_lag_ms)),
            min: Some(ParamDraft::from_definition(gate.min)),
            max: gate.max.map(ParamDraft::from_definition),
            ewma_alpha: gate.ewma_alpha,
            failure_decrease_factor: gate.failure_decrease_factor,
            overload_decrease_factor: gate.overload_decrease_factor,
            full_backoff: Some(gate.full_backoff),
            every_job: gate.every_job,
        }
    }

    /// The name within the policy, which the stored cap follows. Default: `adaptive_concurrency`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.common.name = Some(name.into());
        self
    }

    /// The cap that a partition begins with, and begins again with after a rest; at least 1.
    #[must_use]
    pub fn initial_max(mut self, jobs: f64) -> Self {
        self.initial_max = Some(ParamDraft::Fixed(jobs));
        self
    }

    /// The initial cap, read from the context; `default` (a number or `None`) counts when it is absent or null.
    #[must_use]
    pub fn initial_max_from(mut self, path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        self.initial_max = Some(ParamDraft::from(path, default));
        self
    }

    /// The initial cap, computed. The closure must be pure.
    #[must_use]
    pub fn initial_max_fn(mut self, compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        self.initial_max = Some(ParamDraft::computed(compute));
        self
    }

    /// The lag to aim at: milliseconds from the admission of a job to its start; at least 1.
    #[must_use]
    pub fn target_lag_ms(mut self, milliseconds: f64) -> Self {
        self.target_lag_ms = Some(ParamDraft::Fixed(milliseconds));
        self
    }

    /// The target, read from the context; `default` (a number or `None`) counts when it is absent or null.
    #[must_use]
    pub fn target_lag_ms_from(mut self, path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        self.target_lag_ms = Some(ParamDraft::from(path, default));
        self
    }

    /// The target, computed. The closure must be pure.
    #[must_use]
    pub fn target_lag_ms_fn(mut self, compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        self.target_lag_ms = Some(ParamDraft::computed(compute));
        self
    }

    /// The smallest cap; at least 1, which is the default.
    #[must_use]
    pub fn min(mut self, jobs: f64) -> Self {
        self.min = Some(ParamDraft::Fixed(jobs));
        self
    }

    /// The smallest cap, read from the context; `default` (a number or `None`) counts when it is absent or null.
    #[must_use]
    pub fn min_from(mut self, path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        self.min = Some(ParamDraft::from(path, default));
        self
    }

    /// The smallest cap, computed. The closure must be pure.
    #[must_use]
    pub fn min_fn(mut self, compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        self.min = Some(ParamDraft::computed(compute));
        self
    }

    /// The largest cap; at least 1. Left out, there is none.
    #[must_use]
    pub fn max(mut self, jobs: f64) -> Self {
        self.max = Some(ParamDraft::Fixed(jobs));
        self
    }

    /// The largest cap, read from the context; `default` (a number or `None`) counts when it is absent or null.
    #[must_use]
    pub fn max_from(mut self, path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        self.max = Some(ParamDraft::from(path, default));
        self
    }

    /// The largest cap, computed. The closure must be pure.
    #[must_use]
    pub fn max_fn(mut self, compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        self.max = Some(ParamDraft::computed(compute));
        self
    }

    /// The weight of the newest lag in the average: above 0, at most 1. Default: 0.5.
    #[must_use]
    pub const fn ewma_alpha(mut self, weight: f64) -> Self {
        self.ewma_alpha = weight;
        self
    }

    /// What a failed job leaves of the cap: between 0 and 1. Default: 0.5.
    #[must_use]
    pub const fn failure_decrease_factor(mut self, factor: f64) -> Self {
        self.failure_decrease_factor = factor;
        self
    }

    /// What a lag above the target leaves of the cap: between 0 and 1. Default: 0.95.
    #[must_use]
    pub const fn overload_decrease_factor(mut self, factor: f64) -> Self {
        self.overload_decrease_factor = factor;
        self
    }

    /// When to look again after it was full, unless a job finishes earlier. Default: 1 s.
    #[must_use]
    pub const fn full_backoff(mut self, backoff: Duration) -> Self {
        self.full_backoff = Some(backoff);
        self
    }

    /// Whether every job moves the cap by its own lag: up by one, or down by a factor. Left out, one job a generation does, which
    /// keeps the cap from swinging on what jobs tell of the cap that was.
    #[must_use]
    pub const fn every_job(mut self, every_job: bool) -> Self {
        self.every_job = every_job;
        self
    }

    /// Only counts what it would have denied, and lets everything go.
    #[must_use]
    pub const fn shadow(mut self, shadow: bool) -> Self {
        self.common.shadow = shadow;
        self
    }
}
