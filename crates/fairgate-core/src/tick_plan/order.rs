//! Who is served first within a tick.

use super::{Claimed, Look};

/// The claimed partitions in fairness order: those that the budget starved at their last look first, then by recent
/// activity, lowest first, then as they were claimed. Without a half-life nothing is remembered and only that order is left.
pub(super) fn by_fairness(claimed: &[Claimed], looks: &[Look]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..claimed.len()).collect();
    order.sort_by(|&a, &b| {
        let starved_first = claimed[b].starved.cmp(&claimed[a].starved);
        starved_first.then(looks[a].seen.recent.total_cmp(&looks[b].seen.recent))
    });
    order
}
