//! Budgets of one server for one caller: what they share, and what not.

use std::time::Duration;

use fairgate_core::budget::{Answer, Block, BlockReason, Borrow, Ledger, Verdict, reconcile_beside};

use crate::budget_support::{Budget, at, clean, headers, silent};

/// The answer to one request of the first, and what the two are afterwards.
fn answered(one: &mut Budget, other: &mut Ledger, answer: &Answer, now: i64) {
    let receipt = one.spend(one.poll, Borrow::No, now).unwrap();
    let beside = [other.clone()];
    let (done, mut after) = reconcile_beside(&one.plan, &one.ledger, &beside, receipt, answer, at(now));
    one.ledger = done.ledger;
    *other = after.pop().unwrap();
}

fn secondary(seconds: Option<u64>) -> Verdict {
    Verdict::SecondaryLimit(seconds.map(Duration::from_secs))
}

#[test]
fn a_pause_blocks_all_budgets_and_limits_in_a_row_are_counted_over_all() {
    let (mut one, mut other) = (Budget::told(), Budget::told());
    answered(&mut one, &mut other.ledger, &silent(secondary(None)), 0);
    let block = |seconds| Some(Block { until: at(seconds), reason: BlockReason::SecondaryLimit });
    assert_eq!((one.ledger.block, other.ledger.block), (block(60), block(60)));
    // The next one comes to the other budget.
    answered(&mut other, &mut one.ledger, &silent(secondary(None)), 60);
    assert_eq!((one.ledger.block, other.ledger.block), (block(180), block(180)));
    assert_eq!((one.ledger.secondary_streak, other.ledger.secondary_streak), (2, 2));
    answered(&mut one, &mut other.ledger, &silent(Verdict::Unrelated), 180);
    assert_eq!((one.ledger.secondary_streak, other.ledger.secondary_streak), (2, 2));
    answered(&mut other, &mut one.ledger, &silent(Verdict::Clean), 180);
    assert_eq!((one.ledger.secondary_streak, other.ledger.secondary_streak), (0, 0));
}

#[test]
fn a_pause_reaches_the_others_from_behind_a_longer_block_and_shortens_none() {
    let (mut one, mut other) = (Budget::told(), Budget::told());
    let spent = Answer { headers: Some(headers(60, 0, 3600)), verdict: secondary(Some(90)) };
    answered(&mut one, &mut other.ledger, &spent, 0);
    let own = Block { until: at(3601), reason: BlockReason::NothingRemains };
    assert_eq!(one.ledger.block, Some(own));
    assert_eq!(other.ledger.block, Some(Block { until: at(90), reason: BlockReason::SecondaryLimit }));
    let mut third = Budget::told();
    answered(&mut third, &mut one.ledger, &silent(secondary(Some(90))), 0);
    assert_eq!(one.ledger.block, Some(own), "it lasts longer");
}

#[test]
fn windows_and_what_is_spent_of_them_are_each_budgets_own() {
    let (mut one, mut other) = (Budget::told(), Budget::told());
    let before = other.ledger.clone();
    answered(&mut one, &mut other.ledger, &clean(60, 0, 3600), 0);
    assert_eq!(other.ledger, before);
    assert_eq!(one.ledger.block.map(|block| block.reason), Some(BlockReason::NothingRemains));
}
