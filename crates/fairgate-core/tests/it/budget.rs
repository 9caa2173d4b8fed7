//! The ledger of a budget: what may go, and why not.

use std::time::Duration;

use fairgate_core::budget::{
    Ask, AskError, Borrow, Change, DenialReason, PlanError, Share, Verdict, Windows, retry_after,
};

use crate::budget_support::{Budget, HOUR, at, clean, plan_of, plan_with, silent};

#[test]
fn allowances_are_what_the_reserve_and_the_fixed_classes_leave() {
    let budget = Budget::new(plan_of(60, 8, 12, "0.5"));
    let allowance = |lane| budget.plan.allowance(lane, 60);
    assert_eq!((allowance(budget.poll), allowance(budget.actor), budget.plan.reserve()), (12, 40, 8));
    assert_eq!(budget.plan.guarantee(budget.actor, 60), 20);
    assert_eq!(budget.plan.guarantee(budget.repository, 60), 20);
    // Three pages a poll.
    let pages = Budget::new(plan_of(60, 8, 36, "0.5"));
    assert_eq!(pages.plan.allowance(pages.actor, 60), 16);
}

#[test]
fn a_plan_that_leaves_nothing_is_refused() {
    let windows = Windows::FromHeaders(Duration::from_secs(HOUR));
    let refused = plan_with(60, 8, 52, "0.5", windows).unwrap_err();
    assert_eq!(refused, PlanError::NothingLeft { fixed: 52, reserve: 8, limit: 60 });
    assert!(plan_with(60, 8, 51, "0.5", windows).is_ok());
}

#[test]
fn a_share_is_an_exact_fraction() {
    let share = |text: &str| text.parse::<Share>();
    assert_eq!(share("0.29").unwrap().of(100), 29);
    assert_eq!(share("0.57").unwrap().of(100), 57);
    assert_eq!(
        (share("0").unwrap().of(40), share("1").unwrap().of(40), share("1.000").unwrap().of(40)),
        (0, 40, 40)
    );
    assert_eq!((share(".5").unwrap().of(41), share("0.999999999").unwrap().of(u32::MAX)), (20, u32::MAX - 5));
    for outside in ["1.01", "-0.1", "2"] {
        assert!(share(outside).unwrap_err().to_string().contains("must be from 0 to 1"), "{outside}");
    }
    for junk in ["", ".", "half", "1e-1", "0,5", "NaN", "0.0000000001", "+0.5"] {
        assert!(share(junk).unwrap_err().to_string().contains("write a decimal"), "{junk}");
    }
}

#[test]
fn a_share_of_nothing_or_of_all_is_legal() {
    for (share, actor, repository) in [("0", 0, 40), ("1", 40, 0), ("0.29", 11, 29)] {
        let budget = Budget::new(plan_of(60, 8, 12, share));
        assert_eq!(budget.plan.guarantee(budget.actor, 60), actor, "{share}");
        assert_eq!(budget.plan.guarantee(budget.repository, 60), repository, "{share}");
    }
}

#[test]
fn an_untold_window_lets_polls_go_and_lookups_not() {
    let mut budget = Budget::new(plan_of(60, 8, 12, "0.5"));
    let denial = budget.try_spend(budget.actor, Borrow::No, 0).unwrap_err();
    assert_eq!((denial.reason, denial.until), (DenialReason::WindowUninitialized, None));
    let receipt = budget.spend(budget.poll, Borrow::No, 0).unwrap();
    assert_eq!(budget.ledger.window.remaining, None);
    // Another program at this address had spent ten.
    let told = budget.answer(receipt, clean(60, 49, 3600), 1);
    assert_eq!(told.changes, [Change::WindowInitialized { limit: 60, remaining: 49, reset_at: at(3600) }]);
    assert_eq!((budget.used(budget.poll), budget.ledger.window.remaining), (1, Some(49)));
    assert!(budget.spend(budget.actor, Borrow::No, 1).is_ok());
}

#[test]
fn reasons_come_in_their_order() {
    let mut budget = Budget::told();
    let reason = |budget: &Budget, lane, now| budget.try_spend(lane, Borrow::No, now).unwrap_err().reason;
    for _ in 0..20 {
        budget.spend(budget.actor, Borrow::No, 1).unwrap();
    }
    assert_eq!(reason(&budget, budget.actor, 1), DenialReason::ShareExhausted);
    for _ in 0..20 {
        budget.spend(budget.repository, Borrow::No, 1).unwrap();
    }
    assert_eq!(reason(&budget, budget.actor, 1), DenialReason::ClassExhausted);
    for _ in 0..11 {
        budget.spend(budget.poll, Borrow::No, 1).unwrap();
    }
    // The last of them reached the reserve, which blocks all.
    assert_eq!(reason(&budget, budget.actor, 1), DenialReason::GloballyBlocked);
    budget.ledger.block = None;
    assert_eq!(reason(&budget, budget.actor, 1), DenialReason::ReserveReached);
    assert_eq!(reason(&budget, budget.actor, 3601), DenialReason::WindowUninitialized);
    assert!(budget.try_spend(budget.poll, Borrow::No, 3601).is_ok());
}

#[test]
fn a_dry_class_stops_no_other_and_is_told_once_in_a_window() {
    let mut budget = Budget::told();
    let mut told = 0;
    for _ in 0..11 {
        let debit = budget.try_spend(budget.poll, Borrow::No, 1).unwrap();
        told += debit.changes.iter().filter(|c| matches!(c, Change::ClassExhausted { .. })).count();
        budget.ledger = debit.ledger;
    }
    assert_eq!(told, 1);
    let denial = budget.try_spend(budget.poll, Borrow::No, 1).unwrap_err();
    assert_eq!((denial.reason, denial.until), (DenialReason::ClassExhausted, Some(at(3601))));
    assert_eq!(budget.ledger.block, None);
    assert!(budget.spend(budget.actor, Borrow::No, 1).is_ok());
}

#[test]
fn a_member_borrows_only_by_word_and_only_up_to_the_class() {
    let mut budget = Budget::told();
    for n in 0..40 {
        let denied = budget.try_spend(budget.actor, Borrow::No, 1).is_err();
        assert_eq!(denied, n >= 20);
        budget.spend(budget.actor, Borrow::OthersHaveNoWork, 1).unwrap();
    }
    let denial = budget.try_spend(budget.actor, Borrow::OthersHaveNoWork, 1).unwrap_err();
    assert_eq!(denial.reason, DenialReason::ClassExhausted);
    let error = Ask::new(&budget.plan, budget.poll, Borrow::OthersHaveNoWork).unwrap_err();
    assert_eq!(error, AskError::NothingToBorrow { class: "poll".to_owned() });
}

#[test]
fn within_a_window_the_least_of_both_numbers_counts() {
    let mut budget = Budget::told();
    let first = budget.spend(budget.actor, Borrow::No, 1).unwrap();
    let second = budget.spend(budget.actor, Borrow::No, 1).unwrap();
    let _ = budget.answer(second, clean(60, 30, 3600), 2);
    let _ = budget.answer(first, clean(60, 58, 3600), 2);
    assert_eq!(budget.ledger.window.remaining, Some(30));
    budget.spend(budget.actor, Borrow::No, 2).unwrap();
    assert_eq!(budget.ledger.window.remaining, Some(29));
}

#[test]
fn an_answer_without_headers_or_of_another_budget_changes_nothing() {
    let mut budget = Budget::told();
    let receipt = budget.spend(budget.actor, Borrow::No, 1).unwrap();
    let before = budget.ledger.clone();
    let _ = budget.answer(receipt, silent(Verdict::Clean), 2);
    let mut search = clean(30, 0, 60);
    search.headers.as_mut().unwrap().resource = Some("search".to_owned());
    let _ = budget.answer(receipt, search, 2);
    assert_eq!(budget.ledger, before);
}

#[test]
fn a_later_reset_opens_a_window_when_the_old_one_is_over_and_carries_the_debit() {
    let mut budget = Budget::told();
    let receipt = budget.spend(budget.actor, Borrow::No, 3600).unwrap();
    let rolled = budget.answer(receipt, clean(60, 59, 7200), 3601);
    assert_eq!(rolled.changes[0], Change::WindowRolled);
    assert_eq!((budget.used(budget.poll), budget.used(budget.actor)), (0, 1));
    assert_eq!((budget.ledger.window.number, budget.ledger.window.remaining), (2, Some(59)));
}

#[test]
fn a_debit_of_the_old_window_is_counted_where_the_server_counted_it() {
    let mut budget = Budget::told();
    let late = budget.spend(budget.actor, Borrow::No, 3600).unwrap();
    // Another process polls after the reset, before the answer comes.
    let poll = budget.spend(budget.poll, Borrow::No, 3601).unwrap();
    let _ = budget.answer(poll, clean(60, 58, 7200), 3602);
    let _ = budget.answer(late, clean(60, 59, 7200), 3602);
    assert_eq!((budget.used(budget.poll), budget.used(budget.actor)), (1, 1));
    assert_eq!(budget.ledger.window.remaining, Some(58));
}

#[test]
fn an_answer_of_the_window_before_does_not_tell_of_this_one() {
    let mut budget = Budget::told();
    let late = budget.spend(budget.actor, Borrow::No, 3600).unwrap();
    budget.spend(budget.poll, Borrow::No, 3601).unwrap();
    let done = budget.answer(late, clean(60, 50, 3601), 3601);
    assert_eq!(done.changes, []);
    assert!(!budget.ledger.window.is_initialized());
}

#[test]
fn of_two_windows_at_once_the_worse_is_kept() {
    let mut budget = Budget::told();
    let receipt = budget.spend(budget.actor, Borrow::No, 1).unwrap();
    let better = budget.answer(receipt, clean(5000, 4990, 3000), 2);
    assert!(matches!(better.changes[..], [Change::WindowsInterleave { .. }]));
    assert_eq!((budget.ledger.window.limit, budget.ledger.window.remaining), (Some(60), Some(58)));
    let _ = budget.answer(receipt, clean(60, 12, 3900), 2);
    assert_eq!((budget.ledger.window.reset_at, budget.ledger.window.remaining), (Some(at(3900)), Some(12)));
    assert_eq!(budget.ledger.window.number, 1);
}

#[test]
fn a_free_answer_gives_its_debit_back_and_nothing_else_does() {
    let mut budget = Budget::told();
    for (verdict, used, remaining) in [
        (Verdict::Clean, 2, 58),
        (Verdict::Unrelated, 3, 57),
        (Verdict::PrimaryLimit, 4, 56),
        (Verdict::Free, 4, 56),
    ] {
        let receipt = budget.spend(budget.poll, Borrow::No, 1).unwrap();
        let _ = budget.answer(receipt, silent(verdict), 1);
        assert_eq!(
            (budget.used(budget.poll), budget.ledger.window.remaining),
            (used, Some(remaining)),
            "{verdict:?}"
        );
    }
}

#[test]
fn secondary_limits_block_all_and_last_longer_each_time_until_a_clean_answer() {
    let mut budget = Budget::told();
    let receipt = budget.spend(budget.poll, Borrow::No, 0).unwrap();
    let mut blocked = |verdict, now| {
        let _ = budget.answer(receipt, silent(verdict), now);
        budget.ledger.block.map(|block| block.until)
    };
    let secondary = |seconds: Option<u64>| Verdict::SecondaryLimit(seconds.map(Duration::from_secs));
    assert_eq!(blocked(secondary(None), 0), Some(at(60)));
    assert_eq!(blocked(Verdict::Unrelated, 0), Some(at(60)));
    assert_eq!(blocked(secondary(None), 60), Some(at(180)));
    assert_eq!(blocked(secondary(Some(5)), 60), Some(at(180)));
    assert_eq!(blocked(secondary(Some(500)), 60), Some(at(560)));
    assert_eq!(blocked(secondary(Some(90_000)), 100), Some(at(3700)));
    assert_eq!(budget.ledger.secondary_streak, 5);
    assert_eq!(
        budget.try_spend(budget.poll, Borrow::No, 3699).unwrap_err().reason,
        DenialReason::GloballyBlocked
    );
    // It survives the roll-over; a clean answer ends it.
    let receipt = budget.spend(budget.poll, Borrow::No, 3700).unwrap();
    assert_eq!(
        (budget.ledger.window.number, budget.ledger.secondary_streak, budget.ledger.block),
        (2, 5, None)
    );
    let _ = budget.answer(receipt, silent(Verdict::Clean), 3700);
    assert_eq!(budget.ledger.secondary_streak, 0);
}

#[test]
fn retry_after_is_seconds_or_a_date_and_says_nothing_when_past_zero_or_junk() {
    let now = at(0);
    let date = |offset| at(offset).format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    assert_eq!(retry_after("30", now), Some(Duration::from_secs(30)));
    assert_eq!(retry_after(&date(90), now), Some(Duration::from_secs(90)));
    assert!(retry_after("99999999999999999999999", now).is_some());
    for nothing in ["0", "-5", "", "soon", "1.5", &date(0), &date(-90)] {
        assert_eq!(retry_after(nothing, now), None, "{nothing}");
    }
}

#[test]
fn nothing_is_known_of_a_window_for_ever() {
    let mut budget = Budget::new(plan_of(60, 8, 2, "0.5"));
    for n in 0..2 {
        let receipt = budget.spend(budget.poll, Borrow::No, n).unwrap();
        let _ = budget.answer(receipt, silent(Verdict::Unrelated), n);
    }
    let denial = budget.try_spend(budget.poll, Borrow::No, 2).unwrap_err();
    assert_eq!((denial.reason, denial.until), (DenialReason::ClassExhausted, Some(at(3601))));
    assert!(budget.spend(budget.poll, Borrow::No, 3601).is_ok());
}

#[test]
fn headers_that_cannot_be_are_not_believed() {
    let mut budget = Budget::told();
    let receipt = budget.spend(budget.poll, Borrow::No, 1).unwrap();
    let before = budget.ledger.clone();
    for reset in [-5, 0, 1_000_000] {
        let _ = budget.answer(receipt, clean(60, 0, reset), 1);
    }
    assert_eq!(budget.ledger, before);
}

#[test]
fn fixed_windows_need_no_headers() {
    let windows = Windows::Fixed(Duration::from_secs(60));
    let mut budget = Budget::new(plan_with(20, 2, 3, "0.5", windows).unwrap());
    for n in 0..15 {
        budget.spend(budget.repository, Borrow::OthersHaveNoWork, n).unwrap();
    }
    let denial = budget.try_spend(budget.repository, Borrow::OthersHaveNoWork, 20).unwrap_err();
    assert_eq!((denial.reason, denial.until), (DenialReason::ClassExhausted, Some(at(61))));
    assert!(budget.spend(budget.actor, Borrow::No, 61).is_ok());
}
