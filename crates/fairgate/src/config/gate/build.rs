//! From the keys of a gate to the gate.

use fairgate_core::policy::{ConcurrencyBuilder, PolicyBuilder, ThrottleBuilder};

use super::{Common, Kind};
use crate::config::param::Number;

impl Kind {
    /// Adds the gate to a policy.
    pub(in crate::config) fn build(
        self,
        name: &str,
        common: &Common<'_>,
        policy: PolicyBuilder,
    ) -> PolicyBuilder {
        match self {
            Self::Throttle { rate, per, burst } => policy.throttle(|mut gate| {
                gate = gate.named(name).shadow(common.shadow);
                gate = apply(gate, rate, ThrottleBuilder::rate, ThrottleBuilder::rate_from);
                gate = apply(gate, burst, ThrottleBuilder::burst, ThrottleBuilder::burst_from);
                gate = set(gate, per, ThrottleBuilder::per);
                set(gate, common.scope, ThrottleBuilder::scope)
            }),
            Self::Concurrency { max, full_backoff } => policy.concurrency(|mut gate| {
                gate = gate.named(name).shadow(common.shadow);
                gate = apply(gate, max, ConcurrencyBuilder::max, ConcurrencyBuilder::max_from);
                gate = set(gate, full_backoff, ConcurrencyBuilder::full_backoff);
                set(gate, common.scope, ConcurrencyBuilder::scope)
            }),
            Self::Adaptive(keys) => {
                policy.adaptive_concurrency(|gate| keys.build(gate.named(name).shadow(common.shadow)))
            }
        }
    }
}

/// Sets what was written.
pub(super) fn set<B, T>(gate: B, value: Option<T>, with: impl FnOnce(B, T) -> B) -> B {
    match value {
        Some(value) => with(gate, value),
        None => gate,
    }
}

/// Sets a number that was written.
pub(super) fn apply<B>(
    gate: B,
    number: Option<Number>,
    fixed: fn(B, f64) -> B,
    from: fn(B, String, Option<f64>) -> B,
) -> B {
    match number {
        Some(Number::Fixed(number)) => fixed(gate, number),
        Some(Number::From { path, default }) => from(gate, path, default),
        None => gate,
    }
}
