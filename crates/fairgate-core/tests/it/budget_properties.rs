//! Long random lives of a budget: debits, answers that are late, lost, jittered or of another program's making, and time.

use std::time::Duration;

use fairgate_core::budget::{Answer, BlockReason, Borrow, Change, Receipt, Verdict};
use proptest::prelude::*;

use crate::budget_support::{Budget, headers, plan_of};

#[derive(Debug, Clone)]
enum Step {
    Spend { lane: usize, borrow: bool },
    Answer { which: usize, less: u32, jitter: i64, verdict: u8 },
    Lose { which: usize },
    Pass { seconds: i64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => (0..3usize, any::<bool>()).prop_map(|(lane, borrow)| Step::Spend { lane, borrow }),
        4 => (any::<usize>(), 0..4u32, -1..=1i64, 0..10u8)
            .prop_map(|(which, less, jitter, verdict)| Step::Answer { which, less, jitter, verdict }),
        1 => any::<usize>().prop_map(|which| Step::Lose { which }),
        2 => (0..1500i64).prop_map(|seconds| Step::Pass { seconds }),
    ];
    proptest::collection::vec(step, 1..200)
}

/// The server: windows of an hour from the first request, and what is counted in them.
struct Server {
    reset: i64,
    left: u32,
}

impl Server {
    fn headers(&mut self, now: i64, less: u32, jitter: i64) -> fairgate_core::budget::LimitHeaders {
        if now >= self.reset {
            *self = Self { reset: now + 3600, left: 60 };
        }
        // Ours, and those of another program at this address.
        self.left = self.left.saturating_sub(1 + less);
        headers(60, self.left, self.reset + jitter)
    }
}

fn verdict(n: u8) -> Verdict {
    match n {
        0 => Verdict::SecondaryLimit(None),
        1 => Verdict::SecondaryLimit(Some(Duration::from_secs(5000))),
        2 => Verdict::Unrelated,
        3 => Verdict::Free,
        _ => Verdict::Clean,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_classes_shares_and_blocks_hold(steps in steps()) {
        let mut budget = Budget::new(plan_of(60, 8, 12, "0.29"));
        let mut server = Server { reset: 0, left: 60 };
        let mut sent: Vec<Receipt> = Vec::new();
        let mut now = 0;
        for step in steps {
            let before = budget.ledger.clone();
            match step {
                Step::Pass { seconds } => now += seconds,
                Step::Lose { which } => if !sent.is_empty() { sent.swap_remove(which % sent.len()); },
                Step::Spend { lane, borrow } => {
                    let lane = [budget.poll, budget.actor, budget.repository][lane];
                    let may = borrow && lane != budget.poll;
                    let borrow = if may { Borrow::OthersHaveNoWork } else { Borrow::No };
                    if let Ok(receipt) = budget.spend(lane, borrow, now) {
                        let window = &budget.ledger.window;
                        let limit = window.limit.unwrap_or(60);
                        prop_assert!(window.class_used(&budget.plan, lane) <= budget.plan.allowance(lane, limit));
                        prop_assert!(may || budget.used(lane) <= budget.plan.guarantee(lane, limit));
                        prop_assert!(window.remaining.is_none_or(|left| left >= 8));
                        prop_assert!(before.block.is_none_or(|block| block.until <= crate::budget_support::at(now)));
                        sent.push(receipt);
                    } else {
                        prop_assert_eq!(&budget.ledger, &before, "a denial changes nothing");
                    }
                }
                Step::Answer { which, less, jitter, verdict: n } => if !sent.is_empty() {
                    let receipt = sent.swap_remove(which % sent.len());
                    let verdict = verdict(n);
                    let answer = Answer { headers: Some(server.headers(now, less, jitter)), verdict };
                    let done = budget.answer(receipt, answer, now);
                    let (old, new) = (&before.window, &budget.ledger.window);
                    prop_assert!(new.number >= old.number);
                    prop_assert!(budget.ledger.block.map(|b| b.until) >= before.block.map(|b| b.until), "blocks only move later");
                    let same = new.number == old.number && old.is_initialized();
                    prop_assert!(!same || verdict == Verdict::Free || new.remaining <= old.remaining);
                    prop_assert!(!same || new.reset_at >= old.reset_at);
                    let spent = new.remaining.is_some_and(|left| left <= 8);
                    prop_assert!(!spent || budget.ledger.block.is_some());
                    let set = |change: &Change| matches!(change, Change::Blocked(block) if block.reason == BlockReason::SecondaryLimit);
                    prop_assert!(matches!(verdict, Verdict::SecondaryLimit(_)) || !done.changes.iter().any(set));
                },
            }
            let window = &budget.ledger.window;
            let members = window.used[budget.actor.slot()] + window.used[budget.repository.slot()];
            prop_assert_eq!(members, window.class_used(&budget.plan, budget.actor));
        }
    }
}
