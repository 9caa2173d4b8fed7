//! The adaptive concurrency gate: a cap on jobs in flight that follows how long admitted jobs wait for a worker.

mod numbers;
mod state;

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::assessment::After;
use super::observation::Observation;
use super::{Assessment, Common, Facts, RawState, bad};
use crate::context::Context;
use crate::definition::AdaptiveDefinition;
use crate::param::Param;
use crate::reason::DenyReason;
use crate::time::later;
use crate::verdict::{Allowance, Denial, Verdict, WakeEvent};

pub(crate) use state::Look;
pub use state::State;

/// At most as many jobs of the partition in flight as its cap says, which moves between `min` and `max` with the lag of the jobs: the
/// time from their admission to their start. Additive increase, multiplicative decrease (Chiu and Jain, 1989), one step a
/// generation: only a job that was admitted since the cap last moved moves it again, because those admitted before tell of the cap
/// that was. It grows only on jobs admitted while it was what held others back.
#[derive(Debug, Clone)]
pub struct Adaptive {
    pub(crate) common: Common,
    pub(crate) initial_max: Param,
    pub(crate) target_lag_ms: Param,
    pub(crate) min: Param,
    pub(crate) max: Option<Param>,
    pub(crate) knobs: Knobs,
    pub(crate) full_backoff: Duration,
}

/// How the cap moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Knobs {
    /// The weight of the newest lag in the average: above 0, at most 1.
    pub(crate) ewma_alpha: f64,
    /// What a failed job leaves of the cap: between 0 and 1.
    pub(crate) failure_decrease_factor: f64,
    /// What a lag above the target leaves of the cap: between 0 and 1.
    pub(crate) overload_decrease_factor: f64,
    /// Whether every job moves the cap.
    pub(crate) every_job: bool,
}

impl Adaptive {
    /// The stored state with what was seen since. Without a state and with numbers that cannot be used there is nothing to learn
    /// from; with a state only the average is kept up to date then. `observations` are in [`Observation::fold_order`].
    pub(super) fn observe(
        &self,
        context: &Context,
        stored: Option<&RawState>,
        observations: &[Observation],
        now: DateTime<Utc>,
    ) -> Option<RawState> {
        let numbers = self.numbers(context).ok();
        let stored = stored.and_then(State::read);
        let mut state = stored.or_else(|| numbers.as_ref().map(State::new))?;
        for observation in observations {
            state.learn(observation, numbers.as_ref(), &self.knobs, now);
        }
        Some(RawState::write(&state))
    }

    pub(super) fn definition(&self) -> AdaptiveDefinition {
        AdaptiveDefinition {
            initial_max: self.initial_max.definition(),
            target_lag_ms: self.target_lag_ms.definition(),
            min: self.min.definition(),
            max: self.max.as_ref().map(Param::definition),
            ewma_alpha: self.knobs.ewma_alpha,
            failure_decrease_factor: self.knobs.failure_decrease_factor,
            overload_decrease_factor: self.knobs.overload_decrease_factor,
            full_backoff: self.full_backoff,
            every_job: self.knobs.every_job,
        }
    }

    pub(super) fn assess(
        &self,
        facts: &Facts<'_>,
        stored: Option<&RawState>,
        now: DateTime<Utc>,
    ) -> Assessment {
        let stored = stored.and_then(State::read);
        let numbers = match self.numbers(facts.context) {
            Ok(numbers) => numbers,
            Err((parameter, problem)) => {
                let verdict = bad::parameter(&self.common.name, parameter, problem, now);
                let after = stored.map_or(After::Nothing, |state| After::Kept(RawState::write(&state)));
                return Assessment::new(verdict, None, after);
            }
        };
        let in_flight = facts.in_flight.max(0).unsigned_abs();
        let mut state = stored.unwrap_or_else(|| State::new(&numbers));
        if !self.knobs.every_job && in_flight == 0 && facts.pending > 0 {
            state.restart(&numbers, now);
        }
        let cap = state.effective(in_flight, &numbers);
        let free = cap.saturating_sub(in_flight);
        let verdict = if free > 0 {
            Verdict::Admit(Allowance(free))
        } else {
            Verdict::Deny(Denial {
                gate: Some(self.common.name.clone()),
                used: Some(in_flight as f64),
                limit: Some(cap as f64),
                event: Some(WakeEvent::Finish),
                ..Denial::new(DenyReason::AdaptiveFull, later(now, self.full_backoff))
            })
        };
        let pending = facts.pending.max(0).unsigned_abs();
        Assessment::new(verdict, Some(cap as f64), After::Cap(Look { state, free, pending }))
    }
}
