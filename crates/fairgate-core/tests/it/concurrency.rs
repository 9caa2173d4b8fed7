use fairgate_core::{DenyReason, WakeEvent};
use std::time::Duration;

use crate::support::{Partition, SECOND, at, builder, context};

fn partition(json: &str) -> Partition {
    let policy = builder().concurrency(|c| c.max_from("max", None));
    let mut partition = Partition::of(&policy.build().unwrap());
    partition.context = context(json);
    partition
}

#[test]
fn what_is_in_flight_is_taken_off_the_max() {
    let mut partition = partition(r#"{"max":5}"#);
    for (in_flight, allowance) in [(0, 5), (3, 2), (5, 0), (9, 0), (-1, 5), (i64::MIN, 5)] {
        partition.in_flight = in_flight;
        assert_eq!(partition.allowance(0), allowance, "{in_flight}");
    }
}

#[test]
fn when_full_it_looks_again_after_the_backoff_or_at_a_finish() {
    let mut full = partition(r#"{"max":2}"#);
    full.in_flight = 3;
    let decision = full.decide(0);
    let denial = decision.denial.unwrap();
    assert_eq!(denial.reason, DenyReason::ConcurrencyFull);
    assert_eq!((denial.used, denial.limit), (Some(3.0), Some(2.0)));
    assert_eq!(denial.until, at(SECOND));
    assert_eq!(denial.event, Some(WakeEvent::Finish));
    assert_eq!(decision.due, at(SECOND));
    assert_eq!(decision.eligible_at, None, "a finish may bring it forward to now");

    let policy = builder().concurrency(|c| c.max(0.0).full_backoff(Duration::from_millis(250)));
    let never = Partition::of(&policy.build().unwrap());
    assert_eq!(never.until(0), Some(SECOND / 4), "a max of 0 is full, too");
}

#[test]
fn raising_the_max_acts_at_once_and_lowering_it_drains() {
    let mut partition = partition(r#"{"max":2}"#);
    partition.in_flight = 2;
    assert_eq!(partition.allowance(0), 0);
    partition.context = context(r#"{"max":4}"#);
    assert_eq!(partition.allowance(0), 2);
    partition.context = context(r#"{"max":1}"#);
    assert_eq!(partition.allowance(0), 0);
    partition.in_flight = 0;
    assert_eq!(partition.allowance(0), 1);
}

#[test]
fn a_fractional_max_is_rounded_down_and_a_huge_one_is_no_limit() {
    let small = partition(r#"{"max":2.9}"#).decide(0);
    assert_eq!((small.allowance, small.limits_json().as_str()), (2, r#"{"concurrency":2}"#));
    assert_eq!(small.limits.into_values().collect::<Vec<_>>(), [2.0]);
    assert_eq!(partition(r#"{"max":0.9}"#).allowance(0), 0);
    let huge = partition(r#"{"max":1e+300}"#).decide(0);
    assert_eq!(huge.allowance, u64::MAX);
    assert_eq!(huge.limits_json(), r#"{"concurrency":1e+300}"#);
}

#[test]
fn it_keeps_no_state() {
    let mut partition = partition(r#"{"max":2}"#);
    partition.take(0, 2);
    assert_eq!(partition.states.as_deref(), Some("{}"));
}
