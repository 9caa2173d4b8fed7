//! Limit headers as GitHub sent them, replayed in order.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use fairgate_core::budget::{Answer, Borrow, Change, LimitHeaders, Receipt, Verdict, Window, reconcile};
use serde_json::Value;

use crate::budget_support::{Budget, plan_of};

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn time(value: &Value) -> DateTime<Utc> {
    DateTime::from_timestamp(value.as_i64().unwrap(), 0).unwrap()
}

fn number(value: &Value) -> u32 {
    value.as_u64().unwrap().try_into().unwrap()
}

fn told(row: &Value) -> Answer {
    let resource = row["resource"].as_str().map(str::to_owned);
    let headers = LimitHeaders {
        resource,
        limit: number(&row["limit"]),
        remaining: number(&row["remaining"]),
        reset_at: time(&row["reset"]),
    };
    Answer { headers: Some(headers), verdict: Verdict::Clean }
}

/// What one answer did to the window.
fn outcome(before: &Window, after: &Window, changes: &[Change]) -> &'static str {
    let is = |pattern: fn(&Change) -> bool| changes.iter().any(pattern);
    if is(|c| matches!(c, Change::WindowRolled)) {
        assert!(after.number == before.number + 1 && after.reset_at > before.reset_at);
        "rolled"
    } else if is(|c| matches!(c, Change::WindowInitialized { .. })) {
        "initialized"
    } else {
        assert_eq!(after.number, before.number);
        assert!(after.remaining <= before.remaining && after.reset_at >= before.reset_at);
        if is(|c| matches!(c, Change::WindowsInterleave { .. })) {
            "interleaved"
        } else if before == after {
            "nothing new"
        } else {
            "less remains"
        }
    }
}

#[test]
fn every_recorded_header_has_its_expected_outcome() {
    let mut budget = Budget::new(plan_of(5000, 8, 12, "0.5"));
    let mut outcomes = BTreeMap::new();
    for row in rows(include_str!("../fixtures/github/rate-limit-headers.ndjson")) {
        let receipt = Receipt { lane: budget.actor, window: budget.ledger.window.number };
        let before = budget.ledger.clone();
        let done = reconcile(&budget.plan, &before, receipt, &told(&row), time(&row["date_epoch"]));
        let other = row["resource"].as_str().is_some_and(|resource| resource != "core");
        let what = if other {
            assert_eq!(done.ledger, before, "another budget: {row}");
            "of another budget"
        } else {
            outcome(&before.window, &done.ledger.window, &done.changes)
        };
        *outcomes.entry(what).or_insert(0) += 1;
        budget.ledger = done.ledger;
    }
    let expected = BTreeMap::from([
        ("initialized", 1),
        ("rolled", 223),
        ("less remains", 1069),
        // Answers that overtook each other, mostly: more remained than is known to remain.
        ("nothing new", 1316),
        // Other accounts, and the search budget of servers that did not name it yet.
        ("interleaved", 47),
        ("of another budget", 60),
    ]);
    assert_eq!(outcomes, expected);
}

#[test]
fn every_pair_that_jitters_is_one_window() {
    let pairs = rows(include_str!("../fixtures/github/reset-jitter-pairs.ndjson"));
    assert_eq!(pairs.len(), 111);
    for pair in pairs {
        let (first, second) = (&pair["first"], &pair["second"]);
        let mut budget = Budget::new(plan_of(5000, 8, 12, "0.5"));
        let ask = fairgate_core::budget::Ask::new(&budget.plan, budget.poll, Borrow::No).unwrap();
        let debit =
            fairgate_core::budget::decide(&budget.plan, &budget.ledger, ask, time(&first["date"])).unwrap();
        let one = reconcile(&budget.plan, &debit.ledger, debit.receipt, &told(first), time(&first["date"]));
        let two = reconcile(&budget.plan, &one.ledger, debit.receipt, &told(second), time(&second["date"]));
        budget.ledger = two.ledger;
        let window = &budget.ledger.window;
        assert_eq!(two.changes, [], "{pair}");
        assert_eq!((window.number, budget.used(budget.poll)), (1, 1), "{pair}");
        assert_eq!(window.remaining, Some(number(&second["remaining"])), "{pair}");
        assert_eq!(window.reset_at, Some(time(&first["reset"]).max(time(&second["reset"]))), "{pair}");
    }
}
