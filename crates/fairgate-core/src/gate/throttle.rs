//! The throttle gate: a token bucket in exact integer arithmetic.

mod limits;
mod state;

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::assessment::After;
use super::{Assessment, Common, Facts, RawState, bad};
use crate::param::{BadParam, Param};
use crate::reason::DenyReason;
use crate::time::{instant, later};
use crate::verdict::{Allowance, Denial, Verdict};

use limits::Limits;
pub use limits::MAX_JOBS;
pub use state::State;

/// At most `rate` jobs per `per` in the long run, and `burst` at once. A new bucket is full; jobs really admitted are
/// charged, and nothing is given back when they end.
#[derive(Debug, Clone)]
pub struct Throttle {
    pub(crate) common: Common,
    pub(crate) rate: Param,
    pub(crate) per: Duration,
    pub(crate) burst: Option<Param>,
}

impl Throttle {
    fn limits(&self, facts: &Facts<'_>) -> Result<Limits, (&'static str, BadParam)> {
        let rate = self.rate.resolve(facts.context).map_err(|problem| ("rate", problem))?;
        let burst = self
            .burst
            .as_ref()
            .map(|burst| burst.resolve(facts.context))
            .transpose()
            .map_err(|problem| ("burst", problem))?;
        Ok(Limits::new(rate, self.per, burst))
    }

    pub(super) fn assess(
        &self,
        facts: &Facts<'_>,
        stored: Option<&RawState>,
        now: DateTime<Utc>,
    ) -> Assessment {
        let stored = stored.and_then(State::read);
        let limits = match self.limits(facts) {
            Ok(limits) => limits,
            Err((parameter, problem)) => {
                let verdict = bad::parameter(&self.common.name, parameter, problem, now);
                // The tokens held are kept until the number can be read again.
                return Assessment::new(verdict, None, stored.map_or(After::Nothing, After::Bucket));
            }
        };
        let bucket = match stored {
            Some(state) => state.refilled(now).with_limits(limits),
            None => State::full(limits, now),
        };
        let tokens = bucket.whole_jobs();
        let verdict = if limits.rate == 0 {
            self.deny(DenyReason::RateZero, &bucket, later(now, self.per))
        } else if tokens == 0 {
            let wanted = limits.worth_waiting_for(facts.pending);
            let until = instant(bucket.micros_when_holding(wanted)).max(now);
            self.deny(DenyReason::RateLimited, &bucket, until)
        } else {
            Verdict::Admit(Allowance(tokens))
        };
        Assessment::new(verdict, None, After::Bucket(bucket))
    }

    fn deny(&self, reason: DenyReason, bucket: &State, until: DateTime<Utc>) -> Verdict {
        Verdict::Deny(Denial {
            gate: Some(self.common.name.clone()),
            used: Some(bucket.used_jobs()),
            limit: Some(bucket.burst_jobs()),
            ..Denial::new(reason, until)
        })
    }
}
