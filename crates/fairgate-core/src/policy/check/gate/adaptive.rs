//! From the draft of an adaptive concurrency gate to the gate.

use super::{common, number};
use crate::definition::{AdaptiveDefinition, DEFAULT_FULL_BACKOFF, DEFAULT_MIN, Scope};
use crate::gate::Adaptive;
use crate::gate::adaptive::Knobs;
use crate::gate::throttle::MAX_JOBS;
use crate::param::Param;
use crate::policy::check::Found;
use crate::policy::gate_builder::{AdaptiveBuilder, ParamDraft};

pub(super) fn check(found: &mut Found, draft: AdaptiveBuilder) -> Option<Adaptive> {
    let name = draft.common.name.clone().unwrap_or_else(|| "adaptive_concurrency".to_owned());
    let at = |key: &str| format!("gates.{name}.{key}");
    let common = common(found, &name, draft.common);
    if common.as_ref().is_some_and(|common| common.scope != Scope::Partition) {
        found.add(at("scope"), AdaptiveDefinition::NO_SCOPE);
    }
    let initial_max = found
        .require(&at("initial_max"), draft.initial_max, "initial_max = 3")
        .and_then(|jobs| number(found, &at("initial_max"), jobs, 1.0));
    let target_lag_ms = found
        .require(&at("target_lag_ms"), draft.target_lag_ms, "target_lag_ms = 1000")
        .and_then(|target| number(found, &at("target_lag_ms"), target, 1.0));
    let min = draft.min.unwrap_or(ParamDraft::Fixed(DEFAULT_MIN));
    let min = number(found, &at("min"), min, 1.0);
    let max = draft.max.map(|max| number(found, &at("max"), max, 1.0));
    let (least, most) = (fixed(min.as_ref()), fixed(max.as_ref().and_then(Option::as_ref)));
    in_order(found, at("initial_max"), fixed(initial_max.as_ref()), least, most);
    in_order(found, at("max"), most, least, None);
    let knobs = Knobs {
        ewma_alpha: draft.ewma_alpha,
        failure_decrease_factor: draft.failure_decrease_factor,
        overload_decrease_factor: draft.overload_decrease_factor,
        every_job: draft.every_job,
    };
    weight(found, at("ewma_alpha"), knobs.ewma_alpha);
    factor(found, at("failure_decrease_factor"), knobs.failure_decrease_factor);
    factor(found, at("overload_decrease_factor"), knobs.overload_decrease_factor);
    let full_backoff = draft.full_backoff.unwrap_or(DEFAULT_FULL_BACKOFF);
    found.duration(&at("full_backoff"), full_backoff);
    Some(Adaptive {
        common: common?,
        initial_max: initial_max?,
        target_lag_ms: target_lag_ms?,
        min: min?,
        max: match max {
            Some(max) => Some(max?),
            None => None,
        },
        knobs,
        full_backoff,
    })
}

/// The number that is the same for every partition, if there is one and nothing else is wrong with it.
fn fixed(param: Option<&Param>) -> Option<f64> {
    match param {
        Some(Param::Fixed(number)) if (1.0..=MAX_JOBS).contains(number) => Some(*number),
        _ => None,
    }
}

/// Numbers that are known when the policy is built must not contradict each other.
fn in_order(found: &mut Found, at: String, number: Option<f64>, least: Option<f64>, most: Option<f64>) {
    match (number, least, most) {
        (Some(number), Some(least), _) if number < least => {
            found.add(at, format!("{number} is less than the `min` of {least}"));
        }
        (Some(number), _, Some(most)) if number > most => {
            found.add(at, format!("{number} is more than the `max` of {most}"));
        }
        _ => {}
    }
}

fn weight(found: &mut Found, at: String, number: f64) {
    if !(number > 0.0 && number <= 1.0) {
        found.add(at, format!("{number} is out of range; give a number above 0 and at most 1"));
    }
}

fn factor(found: &mut Found, at: String, number: f64) {
    if !(number > 0.0 && number < 1.0) {
        found.add(at, format!("{number} is out of range; give a number above 0 and below 1"));
    }
}
