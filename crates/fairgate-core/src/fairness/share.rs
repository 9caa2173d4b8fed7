//! Sharing a tick's budget.

/// Shares `budget` jobs among partitions in fairness order, each wanting `demands` jobs.
///
/// Each is first offered `ceil(budget / partitions)`; what is left is offered again, in equal parts and in the same order,
/// to those that took their whole offer, until the budget or the demand is gone. The sum is `min(budget, sum(demands))`.
pub fn offers(demands: &[u64], budget: u64) -> Vec<u64> {
    let mut given = vec![0; demands.len()];
    let mut hungry: Vec<usize> = (0..demands.len()).collect();
    let mut left = budget;
    while left > 0 && !hungry.is_empty() {
        let offer = left.div_ceil(hungry.len() as u64);
        for &at in &hungry {
            let taken = offer.min(demands[at] - given[at]).min(left);
            given[at] += taken;
            left -= taken;
        }
        hungry.retain(|&at| given[at] < demands[at]);
    }
    given
}

/// Whether each of so many partitions that could take a job gets one of a budget, whatever the others want: the first offers go round once.
pub fn everybody_gets_one(budget: u64, partitions: u64) -> bool {
    let offer = budget.div_ceil(partitions.max(1));
    offer.saturating_mul(partitions.saturating_sub(1)) < budget
}
