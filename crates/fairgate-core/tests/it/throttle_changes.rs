use fairgate_core::{DenyReason, Policy};
use proptest::prelude::*;

use crate::support::{Partition, SECOND, builder, context, seconds, throttled};

const HOUR: i64 = 3600 * SECOND;

fn from_context() -> Policy {
    builder()
        .throttle(|t| t.rate_from("rate", None).per(seconds(3600)).burst_from("burst", 1.0))
        .build()
        .unwrap()
}

fn partition(json: &str) -> Partition {
    let mut partition = Partition::of(&from_context());
    partition.context = context(json);
    partition
}

#[test]
fn one_an_hour_changed_to_100_an_hour_does_not_wait_out_the_old_hour() {
    let mut partition = partition(r#"{"rate":1}"#);
    partition.take(0, 1);
    assert_eq!(partition.until(SECOND), Some(HOUR));
    partition.context = context(r#"{"rate":100}"#);
    let until = partition.until(SECOND).unwrap();
    assert!(until <= 37 * SECOND, "{until}");
    partition.take(SECOND, 0);
    assert_eq!(partition.allowance(until), 1);
}

#[test]
fn time_before_a_change_is_paid_at_the_old_rate() {
    let mut partition = partition(r#"{"rate":100,"burst":100}"#);
    partition.take(0, 100);
    partition.context = context(r#"{"rate":1,"burst":100}"#);
    assert_eq!(partition.allowance(HOUR / 2), 50);
}

#[test]
fn the_tokens_held_are_kept_and_capped_at_the_new_burst() {
    let mut partition = partition(r#"{"rate":0.001,"burst":10}"#);
    partition.take(0, 6);
    partition.context = context(r#"{"rate":0.002,"burst":20}"#);
    assert_eq!(partition.allowance(0), 4, "a larger burst brings no tokens");
    partition.context = context(r#"{"rate":0.001,"burst":3}"#);
    assert_eq!(partition.allowance(0), 3);
    partition.take(0, 0);
    partition.context = context(r#"{"rate":0.001,"burst":10}"#);
    assert_eq!(partition.allowance(0), 3, "what was capped is gone");
}

#[test]
fn another_per_keeps_tokens_and_debts_too() {
    let mut held = Partition::of(&throttled(0.001, seconds(60), 10.0));
    held.take(0, 6);
    held.policy = throttled(0.001, seconds(7 * 3600), 10.0);
    assert_eq!(held.allowance(0), 4);

    let mut debt = Partition::of(&throttled(1.0, seconds(60), 1.0));
    debt.take(0, 3);
    debt.policy = throttled(1.0, seconds(1), 1.0);
    assert_eq!(debt.until(0), Some(3 * SECOND), "two owed, one wanted");
}

#[test]
fn a_rate_that_cannot_be_read_for_a_while_keeps_the_tokens() {
    let mut partition = partition(r#"{"rate":1,"burst":10}"#);
    partition.take(0, 8);
    partition.context = context(r#"{"burst":10}"#);
    let denial = partition.decide(SECOND).denial.unwrap();
    assert_eq!(denial.reason, DenyReason::BadParameter);
    partition.take(SECOND, 3);
    partition.context = context(r#"{"rate":1,"burst":10}"#);
    assert_eq!(partition.allowance(HOUR), 0, "8 and 3 of 10 taken, 1 came back");
    assert_eq!(partition.allowance(2 * HOUR), 1);
}

#[test]
fn a_rate_that_was_zero_starts_from_the_tokens_held() {
    let mut partition = partition(r#"{"rate":3600,"burst":10}"#);
    partition.take(0, 10);
    partition.context = context(r#"{"rate":0,"burst":10}"#);
    partition.take(0, 0);
    partition.take(5 * SECOND, 0);
    partition.context = context(r#"{"rate":3600,"burst":10}"#);
    assert_eq!(partition.allowance(5 * SECOND), 0, "zero accrues nothing");
    partition.take(5 * SECOND, 0);
    assert_eq!(partition.allowance(6 * SECOND), 1);
}

proptest! {
    #[test]
    fn no_sequence_of_changes_makes_a_token(
        changes in prop::collection::vec((0.001_f64..1e9, 1_u64..1_000_000, 1.0_f64..1e6), 1..20),
    ) {
        let mut partition = Partition::of(&throttled(1.0, seconds(60), 100.0));
        partition.take(0, 40);
        let mut held = 60;
        for (rate, per, burst) in changes {
            partition.policy = throttled(rate, seconds(per), burst);
            let now = partition.allowance(0);
            prop_assert!(now <= held, "{} after {}", now, held);
            partition.take(0, 0);
            held = now;
        }
    }
}
