//! Back-pressure: how many jobs a queue may hold that no worker has begun. What lies in the queue goes first in, first out; fairness ends there.

use crate::pressure::MaxWaiting::{Fitted, Jobs, Unlimited};

/// How many jobs a queue may hold that no worker has begun.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MaxWaiting {
    /// Follows the workers: see [`limit`].
    #[default]
    Fitted,
    /// So many.
    Jobs(u32),
    /// Any number.
    Unlimited,
}

impl MaxWaiting {
    /// From the number in the configuration: 0 is no limit, none is fitted.
    pub const fn from_number(jobs: Option<u32>) -> Self {
        match jobs {
            None => Fitted,
            Some(0) => Unlimited,
            Some(jobs) => Jobs(jobs),
        }
    }
}

/// The most that a fitted limit grows to, in jobs.
const MOST: u64 = 1_000;
/// The least: without it a queue whose workers have not begun yet would get nothing to begin with.
const LEAST: u64 = 100;

/// The limit in jobs; `None` is no limit. Fitted: what the workers begin within a second, or three times what they run now, whichever is more,
/// between 100 and 1,000.
pub fn limit(max: MaxWaiting, running: u64, starts_per_second: f64) -> Option<u64> {
    match max {
        Unlimited => None,
        Jobs(jobs) => Some(u64::from(jobs)),
        // A float turns into an integer saturating; NaN is 0.
        Fitted => Some(running.saturating_mul(3).max(starts_per_second as u64).clamp(LEAST, MOST)),
    }
}

/// What one look may hand over: its part of the room, at least one while there is room. `sharers` is how many looks share it.
pub fn share(limit: u64, waiting: u64, sharers: u64) -> u64 {
    let room = limit.saturating_sub(waiting);
    if room == 0 { 0 } else { (room / sharers.max(1)).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitted_limit_follows_the_workers_within_its_bounds() {
        for (running, starts, expected) in [
            (0, 0.0, 100),
            (20, 0.0, 100),
            (50, 30.0, 150),
            (20, 640.9, 640),
            (5_000, 0.0, 1_000),
            (0, f64::NAN, 100),
        ] {
            assert_eq!(limit(Fitted, running, starts), Some(expected), "{running} running, {starts} starts");
        }
        assert_eq!(limit(MaxWaiting::from_number(Some(7)), 9, 9.0), Some(7));
        assert_eq!(limit(MaxWaiting::from_number(Some(0)), 9, 9.0), None);
        assert_eq!(MaxWaiting::from_number(None), Fitted);
    }

    #[test]
    fn the_room_is_shared_and_nobody_gets_nothing_while_there_is_some() {
        assert_eq!(share(100, 40, 3), 20);
        assert_eq!(share(100, 98, 8), 1);
        assert_eq!(share(100, 100, 1), 0);
        assert_eq!(share(100, 130, 1), 0);
    }
}
