use fairgate_core::{DenyReason, GateStates};

use crate::support::{Partition, SECOND, at, builder, context, seconds, throttled};

#[test]
fn a_new_bucket_is_full() {
    assert_eq!(Partition::of(&throttled(60.0, seconds(60), 10.0)).allowance(0), 10);
}

#[test]
fn the_burst_is_the_rate_unless_given_and_at_least_one_job() {
    let of = |rate: f64| {
        let policy = builder().throttle(|t| t.rate(rate).per(seconds(60)));
        Partition::of(&policy.build().unwrap()).allowance(0)
    };
    assert_eq!(of(60.0), 60);
    assert_eq!(of(0.1), 1);
    assert_eq!(of(2.9), 2);
    let policy = builder().throttle(|t| t.rate(5.0).per(seconds(1)).burst_from("burst", None));
    let mut partition = Partition::of(&policy.build().unwrap());
    for (burst, jobs) in [("0", 1), ("0.5", 1), ("1.5", 1), ("1.9999999999", 1), ("2", 2)] {
        partition.context = context(&format!(r#"{{"burst":{burst}}}"#));
        assert_eq!(partition.allowance(0), jobs, "{burst}");
    }
}

#[test]
fn only_jobs_that_were_taken_are_charged_and_none_comes_back() {
    let mut partition = Partition::of(&throttled(1.0, seconds(3600), 10.0));
    partition.take(0, 0);
    assert_eq!(partition.allowance(0), 10, "a look costs nothing");
    partition.take(0, 4);
    partition.in_flight = 4;
    assert_eq!(partition.allowance(0), 6);
    partition.in_flight = 0;
    assert_eq!(partition.allowance(0), 6, "a finish gives nothing back");
}

#[test]
fn an_empty_bucket_denies_with_its_numbers_until_the_next_token() {
    let mut partition = Partition::of(&throttled(6.0, seconds(60), 2.0));
    partition.take(0, 2);
    let denial = partition.decide(3 * SECOND).denial.unwrap();
    assert_eq!(denial.reason, DenyReason::RateLimited);
    assert_eq!(denial.gate.unwrap().as_str(), "throttle");
    assert_eq!((denial.used, denial.limit), (Some(1.7), Some(2.0)));
    assert_eq!(denial.until, at(10 * SECOND));
    assert_eq!(denial.event, None);
}

#[test]
fn a_rate_of_zero_denies_and_looks_again_after_one_per() {
    let policy = builder().throttle(|t| t.rate(0.0).per(seconds(60)).burst(5.0));
    let mut partition = Partition::of(&policy.build().unwrap());
    for now in [0, 90 * SECOND] {
        let denial = partition.decide(now).denial.unwrap();
        assert_eq!(denial.reason, DenyReason::RateZero);
        assert_eq!(denial.until, at(now + 60 * SECOND));
        partition.take(now, 0);
    }
}

#[test]
fn a_clock_that_goes_back_gives_nothing() {
    let mut partition = Partition::of(&throttled(1.0, seconds(1), 5.0));
    partition.take(100 * SECOND, 5);
    assert_eq!(partition.allowance(50 * SECOND), 0);
    partition.take(50 * SECOND, 0);
    assert_eq!(partition.allowance(100 * SECOND), 0, "no second helping");
    assert_eq!(partition.until(50 * SECOND), Some(101 * SECOND));
    assert_eq!(partition.allowance(101 * SECOND), 1);
}

#[test]
fn a_clock_that_goes_back_takes_nothing_either() {
    let mut partition = Partition::of(&throttled(1.0, seconds(1), 5.0));
    partition.take(100 * SECOND, 2);
    assert_eq!(partition.allowance(50 * SECOND), 3);
}

#[test]
fn what_is_settled_later_is_charged_then() {
    let mut partition = Partition::of(&throttled(1.0, seconds(1), 5.0));
    let states = partition.decide(0).settle(5, at(3 * SECOND));
    partition.states = Some(states.to_json());
    assert_eq!(partition.allowance(3 * SECOND), 0, "a full bucket gains nothing meanwhile");
}

#[test]
fn the_smallest_rate_is_no_zero_and_the_largest_is_10_to_the_12() {
    let policy = builder().throttle(|t| t.rate_from("rate", None).per(seconds(60)));
    let mut partition = Partition::of(&policy.build().unwrap());
    partition.context = context(r#"{"rate":1e-300}"#);
    partition.take(0, 1);
    let denial = partition.decide(0).denial.unwrap();
    assert_eq!(denial.reason, DenyReason::RateLimited);
    let mut partition = Partition::of(&partition.policy);
    partition.context = context(r#"{"rate":1e300}"#);
    assert_eq!(partition.allowance(0), 1_000_000_000_000);
}

#[test]
fn more_than_the_bucket_holds_is_a_debt_that_time_pays_off() {
    let mut partition = Partition::of(&throttled(1.0, seconds(1), 5.0));
    partition.take(0, 25);
    assert_eq!(partition.until(0), Some(21 * SECOND));
    assert_eq!(partition.allowance(21 * SECOND - 1), 0);
    assert_eq!(partition.allowance(21 * SECOND), 1);
}

#[test]
fn a_high_rate_waits_for_several_tokens_but_not_for_more_than_wait_or_fit() {
    let mut partition = Partition::of(&throttled(1000.0, seconds(1), 20.0));
    partition.take(0, 20);
    let waits = |partition: &mut Partition, pending| {
        partition.pending = pending;
        partition.until(0)
    };
    assert_eq!(waits(&mut partition, 1_000_000), Some(20_000), "burst");
    assert_eq!(waits(&mut partition, 3), Some(3_000), "pending");
    assert_eq!(waits(&mut partition, 0), Some(1_000), "at least one");
    let mut partition = Partition::of(&throttled(1000.0, seconds(1), 1000.0));
    partition.take(0, 1000);
    assert_eq!(waits(&mut partition, 1_000_000), Some(50_000), "50 ms worth");
    let mut partition = Partition::of(&throttled(10.0, seconds(1), 10.0));
    partition.take(0, 10);
    assert_eq!(waits(&mut partition, 1_000_000), Some(100_000), "a low rate: one");
}

#[test]
fn a_state_that_cannot_be_read_counts_as_new() {
    let policy = throttled(1.0, seconds(1), 5.0);
    for garbled in [
        "",
        "[]",
        "nonsense",
        r#"{"throttle":7}"#,
        r#"{"throttle":{"level":"x","at":0,"rate":1,"per":1,"burst":1000000000}}"#,
        r#"{"throttle":{"level":"0","at":0,"rate":1,"per":0,"burst":1000000000}}"#,
        r#"{"throttle":{"level":"0","at":0,"rate":-1,"per":1,"burst":1000000000}}"#,
        r#"{"throttle":{"level":"0","at":0,"rate":1,"per":1,"burst":0}}"#,
        r#"{"not a name":{}}"#,
    ] {
        let mut partition = Partition::of(&policy);
        partition.states = Some(garbled.to_owned());
        assert_eq!(partition.allowance(0), 5, "{garbled}");
    }
}

#[test]
fn the_stored_state_has_its_documented_form() {
    let mut partition = Partition::of(&throttled(60.0, seconds(60), 1.0));
    partition.take(0, 3);
    assert_eq!(
        partition.states.as_deref(),
        Some(
            r#"{"throttle":{"level":"-120000000000000000","at":1700000000000000,"rate":60000000000,"per":60000000,"burst":1000000000}}"#
        )
    );
    assert!(GateStates::parse(None).is_empty());
}

#[test]
fn a_stored_level_above_the_burst_is_worth_the_burst() {
    let mut partition = Partition::of(&throttled(1.0, seconds(1), 5.0));
    partition.states = Some(
        r#"{"throttle":{"level":"170141183460469231731687303715884105727","at":0,"rate":1000000000,"per":1000000,"burst":5000000000}}"#
            .to_owned(),
    );
    assert_eq!(partition.allowance(0), 5);
}
