//! The concurrency gate: at most `max` jobs of a partition in flight.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::assessment::After;
use super::{Assessment, Common, Facts, bad};
use crate::param::Param;
use crate::reason::DenyReason;
use crate::time::later;
use crate::verdict::{Allowance, Denial, Verdict, WakeEvent};

/// At most `max` jobs of the partition in flight. It keeps no state: the in-flight count is a fact.
#[derive(Debug, Clone)]
pub struct Concurrency {
    pub(crate) common: Common,
    pub(crate) max: Param,
    pub(crate) full_backoff: Duration,
}

impl Concurrency {
    /// `max` is rounded down: a cap of 2.9 lets two jobs run.
    pub(super) fn assess(&self, facts: &Facts<'_>, now: DateTime<Utc>) -> Assessment {
        let max = match self.max.resolve(facts.context) {
            Ok(max) => max.floor(),
            Err(problem) => {
                let verdict = bad::parameter(&self.common.name, "max", problem, now);
                return Assessment::new(verdict, None, After::Nothing);
            }
        };
        let in_flight = facts.in_flight.max(0).unsigned_abs();
        // A float turns into an integer saturating, and `max` is neither negative nor NaN.
        let free = (max as u64).saturating_sub(in_flight);
        let verdict = if free > 0 {
            Verdict::Admit(Allowance(free))
        } else {
            Verdict::Deny(Denial {
                gate: Some(self.common.name.clone()),
                used: Some(in_flight as f64),
                limit: Some(max),
                event: Some(WakeEvent::Finish),
                ..Denial::new(DenyReason::ConcurrencyFull, later(now, self.full_backoff))
            })
        };
        Assessment::new(verdict, Some(max), After::Nothing)
    }
}
