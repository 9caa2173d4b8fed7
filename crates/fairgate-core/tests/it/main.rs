//! What the pure core promises, claim by claim, through its public interface.
#![allow(clippy::unwrap_used)]

mod concurrency;
mod contexts;
mod definitions;
mod durations;
mod fairness;
mod forced;
mod forecasts;
mod ids;
mod params;
mod pipeline;
mod policies;
mod reports;
mod rest;
mod support;
mod templates;
mod throttle;
mod throttle_changes;
mod throttle_exactness;
mod tick_order;
mod tick_settle;
