//! When a poll is due. Five components, kept apart; none is ever folded into another.

use chrono::{DateTime, Utc};
use serde::Serialize;

/// What a poll waits for. A component that is not set holds nothing up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Schedule {
    /// Our own rhythm, from the end of the last run.
    pub cadence: Option<DateTime<Utc>>,
    /// The server's `X-Poll-Interval`.
    pub floor: Option<DateTime<Utc>>,
    /// The source's back-off.
    pub backoff: Option<DateTime<Utc>>,
    /// The block of everything.
    pub global_block: Option<DateTime<Utc>>,
    /// The end of a window whose polls are spent.
    pub poll_block: Option<DateTime<Utc>>,
}

impl Schedule {
    /// Without our own rhythm; everything else stands.
    #[must_use]
    pub fn forced(self) -> Self {
        Self { cadence: None, ..self }
    }

    /// When a poll is due: the latest component. None: now.
    #[must_use]
    pub fn due_at(&self) -> Option<DateTime<Utc>> {
        self.components().into_iter().filter_map(|(_, at)| at).max()
    }

    /// Whether one is due; an instant that is now is due.
    #[must_use]
    pub fn is_due(&self, now: DateTime<Utc>) -> bool {
        self.due_at().is_none_or(|due| due <= now)
    }

    /// The component that holds it up longest, if it is in the future.
    #[must_use]
    pub fn waits_for(&self, now: DateTime<Utc>) -> Option<(&'static str, DateTime<Utc>)> {
        let future =
            |(name, at): (&'static str, Option<DateTime<Utc>>)| Some((name, at.filter(|at| *at > now)?));
        self.components().into_iter().filter_map(future).max_by_key(|(_, at)| *at)
    }

    fn components(&self) -> [(&'static str, Option<DateTime<Utc>>); 5] {
        [
            ("cadence", self.cadence),
            ("poll_floor", self.floor),
            ("source_backoff", self.backoff),
            ("global_block", self.global_block),
            ("poll_block", self.poll_block),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp(seconds, 0)
    }

    #[test]
    fn statement_1_a_poll_is_due_at_the_latest_of_five_and_an_instant_equal_to_now_is_due() {
        let now = at(100).unwrap();
        assert_eq!(Schedule::default().due_at(), None);
        assert!(Schedule::default().is_due(now));
        for n in 0..5 {
            let set = |m: usize| if m == n { at(100) } else { at(50 + i64::try_from(m).unwrap()) };
            let schedule = Schedule {
                cadence: set(0),
                floor: set(1),
                backoff: set(2),
                global_block: set(3),
                poll_block: set(4),
            };
            assert_eq!(schedule.due_at(), at(100), "component {n}");
            assert!(schedule.is_due(now));
            assert!(!schedule.is_due(at(99).unwrap()));
        }
    }

    #[test]
    fn statement_2_force_drops_the_cadence_and_no_other_component() {
        let all =
            Schedule { cadence: at(9), floor: at(1), backoff: at(2), global_block: at(3), poll_block: at(4) };
        assert_eq!(all.forced(), Schedule { cadence: None, ..all });
        assert_eq!(all.waits_for(at(0).unwrap()), Some(("cadence", at(9).unwrap())));
        assert_eq!(all.forced().waits_for(at(3).unwrap()), Some(("poll_block", at(4).unwrap())));
    }
}
