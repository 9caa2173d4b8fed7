//! The keys of an adaptive concurrency gate.

use std::time::Duration;

use fairgate_core::definition::AdaptiveDefinition;
use fairgate_core::policy::AdaptiveBuilder;

use super::build::{apply, set};
use super::{ADAPTIVE_KEYS, flag};
use crate::config::findings::Findings;
use crate::config::param::{self, Number};
use crate::config::section::Section;

/// As far as they could be read.
pub(in crate::config) struct Adaptive {
    initial_max: Option<Number>,
    target_lag_ms: Option<Number>,
    min: Option<Number>,
    max: Option<Number>,
    ewma_alpha: Option<f64>,
    failure_decrease_factor: Option<f64>,
    overload_decrease_factor: Option<f64>,
    full_backoff: Option<Duration>,
    every_job: bool,
}

/// Reports the keys that it does not have, and why one of them is not among those it has.
pub(super) fn only(section: &Section<'_>, found: &mut Findings<'_>) {
    match section.get("scope") {
        Some(scope) => {
            let known: Vec<&str> = ADAPTIVE_KEYS.iter().copied().chain(["scope"]).collect();
            section.only(found, &known, &[]);
            found.problem(scope.key_offset, &scope.at, AdaptiveDefinition::NO_SCOPE);
        }
        None => section.only(found, ADAPTIVE_KEYS, &[]),
    }
}

impl Adaptive {
    pub(super) fn read(section: &Section<'_>, found: &mut Findings<'_>) -> Self {
        let fraction = |key, found: &mut Findings<'_>| section.get(key).and_then(|node| node.number(found));
        Self {
            initial_max: param::read(section, "initial_max", found),
            target_lag_ms: param::read(section, "target_lag_ms", found),
            min: param::read(section, "min", found),
            max: param::read(section, "max", found),
            ewma_alpha: fraction("ewma_alpha", found),
            failure_decrease_factor: fraction("failure_decrease_factor", found),
            overload_decrease_factor: fraction("overload_decrease_factor", found),
            full_backoff: section.duration(found, "full_backoff"),
            every_job: flag(section, "every_job", found),
        }
    }

    pub(super) fn build(self, mut gate: AdaptiveBuilder) -> AdaptiveBuilder {
        gate = apply(gate, self.initial_max, AdaptiveBuilder::initial_max, AdaptiveBuilder::initial_max_from);
        gate = apply(
            gate,
            self.target_lag_ms,
            AdaptiveBuilder::target_lag_ms,
            AdaptiveBuilder::target_lag_ms_from,
        );
        gate = apply(gate, self.min, AdaptiveBuilder::min, AdaptiveBuilder::min_from);
        gate = apply(gate, self.max, AdaptiveBuilder::max, AdaptiveBuilder::max_from);
        gate = set(gate, self.ewma_alpha, AdaptiveBuilder::ewma_alpha);
        gate = set(gate, self.failure_decrease_factor, AdaptiveBuilder::failure_decrease_factor);
        gate = set(gate, self.overload_decrease_factor, AdaptiveBuilder::overload_decrease_factor);
        gate = set(gate, self.full_backoff, AdaptiveBuilder::full_backoff);
        gate.every_job(self.every_job)
    }
}
