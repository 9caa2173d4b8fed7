//! The bucket: what it holds, at which instant, under which limits.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::limits::{Limits, NANO};
use crate::gate::RawState;
use crate::time::micros;

/// A stored bucket. JSON: `{"level": "-12", "at": 1700000000000000, "rate": 60000000000, "per": 60000000, "burst": 10000000000}`:
/// units held (text, because they exceed what JSON readers keep exact), microseconds since the epoch, billionths of a job,
/// microseconds, billionths of a job. The level is below zero while there is a debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct State {
    level: i128,
    at: i64,
    limits: Limits,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(with = "decimal")]
    level: i128,
    at: i64,
    rate: i128,
    per: i128,
    burst: i128,
}

impl From<State> for Stored {
    fn from(state: State) -> Self {
        Self {
            level: state.level,
            at: state.at,
            rate: state.limits.rate,
            per: state.limits.per,
            burst: state.limits.burst,
        }
    }
}

impl TryFrom<Stored> for State {
    type Error = &'static str;
    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let Stored { level, at, rate, per, burst } = stored;
        if rate < 0 || per < 1 || burst < NANO {
            return Err("not the limits of a throttle");
        }
        let limits = Limits { rate, per, burst };
        Ok(Self { level, at, limits })
    }
}

impl State {
    /// The bucket of a new partition.
    pub(super) fn full(limits: Limits, now: DateTime<Utc>) -> Self {
        Self { level: limits.capacity(), at: micros(now), limits }
    }

    pub(crate) fn read(state: &RawState) -> Option<Self> {
        state.read()
    }

    /// The bucket at `now`, or as it is when `now` lies before its own instant: that one never moves back.
    pub(super) fn refilled(self, now: DateTime<Utc>) -> Self {
        let at = micros(now).max(self.at);
        let elapsed = i128::from(at) - i128::from(self.at);
        let gained = self.limits.rate.saturating_mul(elapsed);
        let level = self.level.saturating_add(gained).min(self.limits.capacity());
        Self { level, at, ..self }
    }

    /// The tokens held, under other limits: converted rounding down, and capped at the new burst.
    pub(super) fn with_limits(self, limits: Limits) -> Self {
        let (old, new) = (self.limits.per, limits.per);
        let whole = self.level.div_euclid(old).saturating_mul(new);
        let part = self.level.rem_euclid(old).saturating_mul(new) / old;
        let level = whole.saturating_add(part).min(limits.capacity());
        let at = self.at;
        Self { level, at, limits }
    }

    /// The bucket after `taken` jobs went at `now`, in debt if they were more than it held.
    pub(in crate::gate) fn charged(self, taken: u64, now: DateTime<Utc>) -> Self {
        let state = self.refilled(now);
        let cost = state.limits.cost().saturating_mul(i128::from(taken));
        let level = state.level.saturating_sub(cost);
        Self { level, ..state }
    }

    /// Whole jobs that it holds.
    pub(super) fn whole_jobs(self) -> u64 {
        u64::try_from(self.level.max(0) / self.limits.cost()).unwrap_or(u64::MAX)
    }

    /// The first microsecond at which it holds `jobs`, if none are taken. The rate must not be zero.
    pub(super) fn micros_when_holding(self, jobs: i128) -> i128 {
        let wanted = self.limits.cost().saturating_mul(jobs);
        let lacking = wanted.saturating_sub(self.level).max(0);
        let wait = lacking.saturating_add(self.limits.rate - 1) / self.limits.rate;
        i128::from(self.at).saturating_add(wait)
    }

    pub(crate) fn is_full(self, now: DateTime<Utc>) -> bool {
        self.refilled(now).level >= self.limits.capacity()
    }

    /// The tokens gone, in jobs, for people.
    pub(super) fn used_jobs(self) -> f64 {
        self.limits.capacity().saturating_sub(self.level) as f64 / self.limits.cost() as f64
    }

    /// The burst, in jobs, for people.
    pub(super) fn burst_jobs(self) -> f64 {
        self.limits.burst as f64 / NANO as f64
    }
}

/// A level as decimal text.
mod decimal {
    use super::{Deserialize, Deserializer, Serializer};
    use serde::de::Error;

    pub(super) fn serialize<S: Serializer>(level: &i128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(level)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i128, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}
