//! What the pure core promises, claim by claim, through its public interface.
#![allow(clippy::unwrap_used)]

mod adaptive;
mod adaptive_evidence;
mod adaptive_knobs;
mod adaptive_level;
mod adaptive_restart;
mod concurrency;
mod contexts;
mod definitions;
mod durations;
mod fairness;
mod fairness_rules;
mod forced;
mod forecasts;
mod hints;
mod ids;
mod observations;
mod overrides;
mod params;
mod pipeline;
mod policies;
mod reports;
mod rest;
mod scope_plan;
mod scopes;
mod shadow;
mod support;
mod templates;
mod throttle;
mod throttle_changes;
mod throttle_exactness;
mod tick_order;
mod tick_settle;
mod triangle;
