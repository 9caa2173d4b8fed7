//! How much is staged: as much as the gates and this machine can let through in time, whatever the length of the run.

use std::time::Duration;

use super::rules::Limit;

/// Pages of the walk follow each other at the pace of the recording: ten in five seconds.
pub(super) const PAGE_EVERY: Duration = Duration::from_millis(500);
/// The walk begins again this often.
pub(super) const REPLAY_EVERY: Duration = Duration::from_secs(10);
/// How long everything may take to be done once staging has ended.
pub(super) const DRAIN_WITHIN: Duration = Duration::from_secs(45);

/// No tenant gets copies that would keep it busy for longer than this.
const DRAIN_SECONDS: u64 = 25;
/// A slot that is taken comes back after a quarter of a second at the latest, queueing and the request included.
const TURNS_A_SECOND: u64 = 4;
/// Deliveries a second that every machine manages.
const MACHINE_A_SECOND: u64 = 120;

/// How many deliveries an event becomes that would like to be `factor`. Itself always; copies only where the backlog of its tenant
/// and that of all tenants together still drain in time.
pub(super) fn copies(factor: u32, limit: Limit, tenant_backlog: u64, whole_backlog: u64) -> u32 {
    let a_second = match limit {
        Limit::Cap(max) => u64::from(max) * TURNS_A_SECOND,
        Limit::Throttle(throttle) => u64::from(throttle.rate),
        Limit::None => MACHINE_A_SECOND,
    };
    let room = (a_second * DRAIN_SECONDS).saturating_sub(tenant_backlog);
    let room = room.min((MACHINE_A_SECOND * DRAIN_SECONDS).saturating_sub(whole_backlog));
    factor.min(u32::try_from(room).unwrap_or(u32::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::rules::Throttle;
    use super::*;

    const FIVE_A_SECOND: Limit = Limit::Throttle(Throttle { rate: 5, burst: 5 });

    #[test]
    fn an_idle_tenant_gets_every_copy() {
        assert_eq!(copies(200, Limit::Cap(12), 0, 0), 200);
    }

    #[test]
    fn a_tenant_gets_no_copy_beyond_what_drains_in_time() {
        assert_eq!(copies(200, FIVE_A_SECOND, 100, 100), 25);
        assert_eq!(copies(200, FIVE_A_SECOND, 125, 125), 1);
        assert_eq!(copies(200, FIVE_A_SECOND, 9_999, 9_999), 1);
    }

    #[test]
    fn a_machine_that_lags_behind_gets_no_copies() {
        assert_eq!(copies(200, Limit::None, 0, 3_000), 1);
    }
}
