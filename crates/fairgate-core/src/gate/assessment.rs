//! A gate's answer, and what is left of it to settle.

use chrono::{DateTime, Utc};

use super::{RawState, adaptive, throttle};
use crate::verdict::Verdict;

/// A gate's answer with what is needed to settle it.
#[derive(Debug, Clone)]
pub struct Assessment {
    /// The answer.
    pub verdict: Verdict,
    /// The cap on jobs in flight in force, for a gate that has one.
    pub limit: Option<f64>,
    /// Whether the answer is only counted.
    pub shadow: bool,
    pub(super) after: After,
}

/// What a gate keeps, before the jobs that are taken are charged.
#[derive(Debug, Clone)]
pub(super) enum After {
    /// Nothing.
    Nothing,
    /// A bucket that the jobs are taken from.
    Bucket(throttle::State),
    /// A cap, and what was seen when it was asked.
    Cap(adaptive::Look),
    /// The state as it was found.
    Kept(RawState),
}

impl Assessment {
    pub(super) const fn new(verdict: Verdict, limit: Option<f64>, after: After) -> Self {
        Self { verdict, limit, shadow: false, after }
    }

    /// The state to store after `taken` jobs were really admitted; `None` for a gate that keeps none. A shadow gate is charged
    /// no more than it would have allowed.
    pub fn settle(&self, taken: u64, now: DateTime<Utc>) -> Option<RawState> {
        let charge = match &self.verdict {
            _ if !self.shadow => taken,
            Verdict::Admit(allowance) => taken.min(allowance.get()),
            Verdict::Deny(_) => 0,
        };
        match &self.after {
            After::Nothing => None,
            After::Bucket(state) => Some(RawState::write(&state.charged(charge, now))),
            After::Cap(look) => Some(RawState::write(&look.settled(charge, now))),
            After::Kept(state) => Some(state.clone()),
        }
    }
}
