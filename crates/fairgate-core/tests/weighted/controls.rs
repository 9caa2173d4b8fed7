//! Each part of the rule is needed: without it a threshold that the whole rule meets is broken, by far.

use crate::changes::{back_from_idling, company, lost_lane};
use crate::jobs::{four_tickers, looks};
use crate::sim::Rule;
use crate::time::unknown;

#[test]
fn without_weights_the_shares_are_wrong() {
    let (error, jain) = four_tickers(Rule::WithoutWeights, 1.0);
    assert!(error > 4.0 && jain < 0.9, "{error} jobs, {jain}");
}

#[test]
fn when_the_lane_is_seldom_moved_the_shares_are_wrong() {
    let (error, _) = four_tickers(Rule::Whole, 0.2);
    assert!(error > 4.0, "{error} jobs");
}

#[test]
fn with_debt_for_idle_times_a_tenant_that_was_alone_starves() {
    let (share, first) = company(Rule::WithDebtForIdleTimes, 1);
    assert!(share < 0.1 && first > 5.0, "share {share}, first job after {first} fair rounds");
}

#[test]
fn without_catching_up_a_lost_lane_stands_still() {
    let used = lost_lane(Rule::WithoutCatchingUp);
    assert!(used < 0.5, "{used} of the budget");
}

#[test]
fn with_a_hoard_a_tenant_that_idled_takes_everything() {
    let excess = back_from_idling(Rule::WithHoard, 400, 20);
    assert!(excess > 100.0, "{excess} jobs");
}

#[test]
fn without_corrections_a_tenant_with_long_jobs_takes_many_shares() {
    let share = unknown(Rule::WithoutCorrections, 60.0);
    assert!(share > 5.0, "{share} of its share");
}

#[test]
fn claims_by_virtual_start_look_at_some_too_late() {
    let (wait, bound) = looks(Rule::ClaimedByStart, 499);
    assert!(wait > bound, "{wait} ticks, the bound is {bound}");
}
