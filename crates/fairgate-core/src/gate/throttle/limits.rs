//! What a throttle allows, in integers.

use std::time::Duration;

/// Billionths of a job in a job: the resolution of `rate` and `burst`.
pub(super) const NANO: i128 = 1_000_000_000;

/// The largest rate and burst that are told apart; a larger one counts as this.
pub const MAX_JOBS: f64 = 1e12;

/// The time worth of tokens that a partition of a high rate waits for, instead of waking for each.
const WAIT_MICROS: i128 = 50_000;

/// `rate` and `burst` in billionths of a job, `per` in microseconds. A unit of the bucket is what one billionth of a job
/// per `per` accrues in a microsecond, so that a bucket gains `rate` units a microsecond and a job costs `per * NANO`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) rate: i128,
    pub(super) per: i128,
    pub(super) burst: i128,
}

impl Limits {
    /// Numbers are finite and not negative. A positive rate is never rounded to zero, a burst is at least one job, and one
    /// left out is the rate.
    pub(super) fn new(rate: f64, per: Duration, burst: Option<f64>) -> Self {
        let nano = |jobs: f64| jobs.min(MAX_JOBS) * 1e9;
        let least_rate = i128::from(rate > 0.0);
        let rate = (nano(rate).round() as i128).max(least_rate);
        let burst = burst.map_or(rate, |burst| nano(burst).floor() as i128);
        Self {
            rate,
            per: i128::try_from(per.as_micros()).unwrap_or(i128::MAX).max(1),
            burst: burst.max(NANO),
        }
    }

    /// Units of one job.
    pub(super) const fn cost(self) -> i128 {
        self.per.saturating_mul(NANO)
    }

    /// Units of a full bucket.
    pub(super) const fn capacity(self) -> i128 {
        self.burst.saturating_mul(self.per)
    }

    /// Whole jobs to wait for when there is no token: what 50 ms bring, but not more than wait or fit, and at least one.
    pub(super) fn worth_waiting_for(self, pending: i64) -> i128 {
        let in_a_while = self.rate.saturating_mul(WAIT_MICROS) / self.cost();
        let fit = self.burst / NANO;
        in_a_while.min(i128::from(pending)).min(fit).max(1)
    }
}
