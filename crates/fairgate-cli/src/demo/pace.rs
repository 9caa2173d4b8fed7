//! How much is staged: as much as the gates and this machine can let through in time, whatever the length of the run.

use std::time::Duration;

use super::rules::Limit;

/// Pages of the walk follow each other at the pace of the recording: ten in five seconds.
pub(super) const PAGE_EVERY: Duration = Duration::from_millis(500);
/// The walk begins again this often.
pub(super) const REPLAY_EVERY: Duration = Duration::from_secs(10);
/// How long everything may take to be done once staging has ended.
pub(super) const DRAIN_WITHIN: Duration = Duration::from_secs(45);

/// No backlog gets copies that would keep it busy for longer than this.
const DRAIN_SECONDS: f64 = 25.0;
/// A slot that is taken comes back after a quarter of a second, queueing and the request included, unless it is seen to take longer.
const TURNS_A_SECOND: f64 = 4.0;
/// Deliveries a second that a machine manages, unless it is seen to manage fewer.
const MACHINE_A_SECOND: f64 = 120.0;
/// A backlog that has been there for less than this says nothing about its speed; it is taken for half as fast as expected then.
const TELLING: Duration = Duration::from_millis(900);
/// What was longer ago says nothing about it any more.
const WINDOW: Duration = Duration::from_secs(5);

/// Deliveries that are staged and not received yet, of a tenant or of all, and how fast they become fewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Backlog {
    pub(super) deliveries: u64,
    pub(super) a_second: f64,
}

/// Watches how fast a backlog drains, over the last few seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Watch {
    /// Since when, and what had been received by then.
    since: Option<(Duration, u64)>,
    /// What the last whole window showed of this backlog.
    last: Option<f64>,
}

impl Watch {
    /// Looks at a backlog at `now`, a time since some beginning. Never faster than `expected`.
    pub(super) fn look(&mut self, now: Duration, deliveries: u64, received: u64, expected: f64) -> Backlog {
        if deliveries == 0 {
            *self = Self::default();
        }
        let (since, before) = *self.since.get_or_insert((now, received));
        let watched = now.saturating_sub(since);
        let seen = received.saturating_sub(before) as f64 / watched.as_secs_f64();
        let a_second = if watched < TELLING { self.last.unwrap_or(expected / 2.0) } else { seen };
        if watched >= WINDOW {
            *self = Self { since: Some((now, received)), last: Some(seen) };
        }
        Backlog { deliveries, a_second: a_second.min(expected) }
    }
}

/// How fast a tenant's backlog drains if nothing but its limit slows it down.
pub(super) fn expected(limit: Limit) -> f64 {
    match limit {
        Limit::Cap(max) => f64::from(max) * TURNS_A_SECOND,
        Limit::Throttle(throttle) => f64::from(throttle.rate),
        Limit::None => MACHINE_A_SECOND,
    }
}

/// How fast all backlogs together drain.
pub(super) fn expected_of_all() -> f64 {
    MACHINE_A_SECOND
}

/// How many deliveries an event becomes that would like to be `factor`. Itself always; copies only where the backlog of its tenant
/// and that of all tenants together still drain in time.
pub(super) fn copies(factor: u32, tenant: Backlog, all: Backlog) -> u32 {
    let room = |backlog: Backlog| {
        // A float turns into an integer saturating.
        ((backlog.a_second * DRAIN_SECONDS) as u64).saturating_sub(backlog.deliveries)
    };
    let room = room(tenant).min(room(all));
    factor.min(u32::try_from(room).unwrap_or(u32::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::rules::Throttle;
    use super::*;

    const IDLE: Backlog = Backlog { deliveries: 0, a_second: 120.0 };

    fn five_a_second(deliveries: u64) -> Backlog {
        Backlog { deliveries, a_second: expected(Limit::Throttle(Throttle { rate: 5, burst: 5 })) }
    }

    #[test]
    fn an_idle_tenant_gets_every_copy() {
        assert_eq!(copies(200, Backlog { deliveries: 0, a_second: expected(Limit::Cap(8)) }, IDLE), 200);
    }

    #[test]
    fn a_tenant_gets_no_copy_beyond_what_drains_in_time() {
        let copies_at = |deliveries| copies(200, five_a_second(deliveries), IDLE);
        assert_eq!([100, 125, 9_999].map(copies_at), [25, 1, 1]);
    }

    #[test]
    fn a_machine_that_lags_behind_gets_no_copies() {
        assert_eq!(copies(200, IDLE, Backlog { deliveries: 3_000, a_second: 120.0 }), 1);
    }

    #[test]
    fn a_backlog_is_taken_for_as_slow_as_it_is_seen_to_be() {
        let mut watch = Watch::default();
        let mut look = |millis, deliveries, received| {
            watch.look(Duration::from_millis(millis), deliveries, received, 40.0).a_second
        };
        assert_eq!(look(0, 0, 50), 20.0);
        assert_eq!(look(500, 100, 90), 20.0);
        assert_eq!(look(1_000, 100, 60), 10.0);
        assert_eq!(look(2_000, 100, 950), 40.0);
        assert_eq!(look(5_000, 100, 1_000), 40.0);
        assert_eq!(look(5_500, 100, 1_000), 40.0);
        assert_eq!(look(7_000, 100, 1_010), 5.0);
        assert_eq!(look(7_500, 0, 1_110), 20.0);
    }
}
