//! Gates being written.

mod adaptive;

use std::time::Duration;

use crate::context::Context;
use crate::definition::{GateDefinition, GateKind, ParamDefinition};
use crate::param::Computed;

pub use adaptive::AdaptiveBuilder;

#[derive(Debug, Clone)]
pub(super) enum GateDraft {
    Throttle(ThrottleBuilder),
    Concurrency(ConcurrencyBuilder),
    Adaptive(AdaptiveBuilder),
}

/// What every gate has, not checked yet.
#[derive(Debug, Clone, Default)]
pub(super) struct CommonDraft {
    pub(super) name: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) shadow: bool,
}

/// A number that is not checked yet.
#[derive(Debug, Clone)]
pub(super) enum ParamDraft {
    Fixed(f64),
    From { path: String, default: Option<f64> },
    Computed(Computed),
}

/// A throttle being written. `rate` and `per` are required.
#[derive(Debug, Clone, Default)]
pub struct ThrottleBuilder {
    pub(super) common: CommonDraft,
    pub(super) rate: Option<ParamDraft>,
    pub(super) per: Option<Duration>,
    pub(super) burst: Option<ParamDraft>,
}

/// A concurrency gate being written. `max` is required.
#[derive(Debug, Clone, Default)]
pub struct ConcurrencyBuilder {
    pub(super) common: CommonDraft,
    pub(super) max: Option<ParamDraft>,
    pub(super) full_backoff: Option<Duration>,
}

impl ParamDraft {
    fn from(path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        let (path, default) = (path.into(), default.into());
        Self::From { path, default }
    }

    fn computed(compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        Self::Computed(Computed::new(compute))
    }
}

impl ThrottleBuilder {
    /// The name within the policy, which the stored tokens follow. Default: `throttle`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.common.name = Some(name.into());
        self
    }

    /// Jobs per `per`; fractions are exact over time.
    #[must_use]
    pub fn rate(mut self, jobs: f64) -> Self {
        self.rate = Some(ParamDraft::Fixed(jobs));
        self
    }

    /// The rate, read from the context; `default` (a number or `None`) counts when it is absent or null.
    #[must_use]
    pub fn rate_from(mut self, path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        self.rate = Some(ParamDraft::from(path, default));
        self
    }

    /// The rate, computed. The closure must be pure.
    #[must_use]
    pub fn rate_fn(mut self, compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        self.rate = Some(ParamDraft::computed(compute));
        self
    }

    /// The time that the rate is for.
    #[must_use]
    pub const fn per(mut self, per: Duration) -> Self {
        self.per = Some(per);
        self
    }

    /// Jobs at once; at least one. Left out, it is the rate.
    #[must_use]
    pub fn burst(mut self, jobs: f64) -> Self {
        self.burst = Some(ParamDraft::Fixed(jobs));
        self
    }

    /// The burst, read from the context.
    #[must_use]
    pub fn burst_from(mut self, path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        self.burst = Some(ParamDraft::from(path, default));
        self
    }

    /// The burst, computed. The closure must be pure.
    #[must_use]
    pub fn burst_fn(mut self, compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        self.burst = Some(ParamDraft::computed(compute));
        self
    }

    /// Counts the jobs of all partitions together whose newest contexts have the same value at this path: a string, a boolean or a
    /// 64-bit integer. `"policy"` and `"partition"` are words of their own, as in the configuration.
    #[must_use]
    pub fn scope(mut self, path: impl Into<String>) -> Self {
        self.common.scope = Some(path.into());
        self
    }

    /// Counts the jobs of the whole policy together, across all shards.
    #[must_use]
    pub fn scope_policy(self) -> Self {
        self.scope("policy")
    }

    /// Only counts what it would have denied, and lets everything go.
    #[must_use]
    pub const fn shadow(mut self, shadow: bool) -> Self {
        self.common.shadow = shadow;
        self
    }
}

impl ConcurrencyBuilder {
    /// The name within the policy. Default: `concurrency`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.common.name = Some(name.into());
        self
    }

    /// Jobs of a partition in flight; fractions are rounded down, 0 holds everything.
    #[must_use]
    pub fn max(mut self, jobs: f64) -> Self {
        self.max = Some(ParamDraft::Fixed(jobs));
        self
    }

    /// The cap, read from the context; `default` (a number or `None`) counts when it is absent or null.
    #[must_use]
    pub fn max_from(mut self, path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        self.max = Some(ParamDraft::from(path, default));
        self
    }

    /// The cap, computed. The closure must be pure.
    #[must_use]
    pub fn max_fn(mut self, compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        self.max = Some(ParamDraft::computed(compute));
        self
    }

    /// When to look again after it was full, unless a job finishes earlier. Default: 1 s.
    #[must_use]
    pub const fn full_backoff(mut self, backoff: Duration) -> Self {
        self.full_backoff = Some(backoff);
        self
    }

    /// Counts the jobs of all partitions together whose newest contexts have the same value at this path: a string, a boolean or a
    /// 64-bit integer. `"policy"` and `"partition"` are words of their own, as in the configuration.
    #[must_use]
    pub fn scope(mut self, path: impl Into<String>) -> Self {
        self.common.scope = Some(path.into());
        self
    }

    /// Counts the jobs of the whole policy together, across all shards.
    #[must_use]
    pub fn scope_policy(self) -> Self {
        self.scope("policy")
    }

    /// Only counts what it would have denied, and lets everything go.
    #[must_use]
    pub const fn shadow(mut self, shadow: bool) -> Self {
        self.common.shadow = shadow;
        self
    }
}

impl From<GateDefinition> for GateDraft {
    fn from(gate: GateDefinition) -> Self {
        let common = CommonDraft {
            name: Some(gate.name.into()),
            scope: Some(gate.scope.to_string()),
            shadow: gate.shadow,
        };
        match gate.kind {
            GateKind::Throttle { rate, per, burst } => Self::Throttle(ThrottleBuilder {
                common,
                rate: Some(ParamDraft::from_definition(rate)),
                per: Some(per),
                burst: burst.map(ParamDraft::from_definition),
            }),
            GateKind::Concurrency { max, full_backoff } => Self::Concurrency(ConcurrencyBuilder {
                common,
                max: Some(ParamDraft::from_definition(max)),
                full_backoff: Some(full_backoff),
            }),
            GateKind::Adaptive(gate) => Self::Adaptive(AdaptiveBuilder::of(common, gate)),
        }
    }
}

impl ParamDraft {
    fn from_definition(param: ParamDefinition) -> Self {
        match param {
            ParamDefinition::Fixed(number) => Self::Fixed(number),
            ParamDefinition::From { path, default } => Self::from(path, default),
            ParamDefinition::Computed => Self::Computed(Computed::missing()),
        }
    }
}
