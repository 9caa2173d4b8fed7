use fairgate_core::{DenyReason, Policy, WakeEvent};
use proptest::prelude::*;

use crate::support::{Partition, SECOND, at, builder, context, seconds};

/// Two throttles around a concurrency gate.
fn policy() -> Policy {
    builder()
        .throttle(|t| t.rate(10.0).per(seconds(60)).named("minute"))
        .concurrency(|c| c.max(5.0))
        .throttle(|t| t.rate(20.0).per(seconds(3600)).named("hour"))
        .build()
        .unwrap()
}

#[test]
fn without_gates_nothing_is_limited() {
    let decision = Partition::of(&builder().build().unwrap()).decide(0);
    assert_eq!((decision.allowance, decision.denial), (u64::MAX, None));
    assert_eq!(decision.due, at(0));
}

#[test]
fn the_smallest_allowance_counts_and_all_gates_are_charged() {
    let mut partition = Partition::of(&policy());
    assert_eq!(partition.allowance(0), 5);
    partition.take(0, 5);
    partition.in_flight = 5;
    assert_eq!(partition.allowance(0), 0);
    partition.in_flight = 0;
    assert_eq!(partition.allowance(0), 5);
    partition.take(0, 5);
    assert_eq!(partition.allowance(0), 0, "the minute is used up");
    partition.take(60 * SECOND, 10);
    assert_eq!(partition.allowance(120 * SECOND), 0, "the hour is used up");
}

#[test]
fn the_first_denial_in_declared_order_gives_the_reason_and_the_last_retry_time_the_instant() {
    let mut partition = Partition::of(&policy());
    partition.take(0, 20);
    partition.in_flight = 5;
    let decision = partition.decide(0);
    let denial = decision.denial.unwrap();
    assert_eq!(denial.gate.unwrap().as_str(), "minute");
    assert_eq!(denial.reason, DenyReason::RateLimited);
    assert_eq!(decision.due, at(180 * SECOND), "20 an hour: one in 180 s");
    assert_eq!(decision.eligible_at, Some(at(180 * SECOND)));

    partition.policy = builder()
        .throttle(|t| t.rate(20.0).per(seconds(3600)).named("hour"))
        .throttle(|t| t.rate(10.0).per(seconds(60)).named("minute"))
        .build()
        .unwrap();
    let decision = partition.decide(0);
    assert_eq!(decision.denial.unwrap().gate.unwrap().as_str(), "hour");
    assert_eq!(decision.due, at(180 * SECOND));
    assert_eq!(decision.eligible_at, Some(at(180 * SECOND)));
}

#[test]
fn a_finish_may_bring_a_full_partition_forward_to_its_time_based_retry_only() {
    let policy = builder()
        .concurrency(|c| c.max(1.0).full_backoff(seconds(30)))
        .throttle(|t| t.rate(1.0).per(seconds(10)))
        .build()
        .unwrap();
    let mut partition = Partition::of(&policy);
    partition.take(0, 1);
    partition.in_flight = 1;
    let decision = partition.decide(0);
    assert_eq!(decision.denial.unwrap().reason, DenyReason::ConcurrencyFull);
    assert_eq!(decision.due, at(30 * SECOND));
    assert_eq!(decision.eligible_at, Some(at(10 * SECOND)));
}

#[test]
fn the_caps_in_force_are_recorded_admitted_or_not() {
    let policy = builder()
        .concurrency(|c| c.max_from("a", None).named("a"))
        .concurrency(|c| c.max(7.0).named("b"))
        .build()
        .unwrap();
    let mut partition = Partition::of(&policy);
    assert_eq!(partition.decide(0).limits_json(), r#"{"b":7}"#, "a cannot be read");
    partition.context = context(r#"{"a":3}"#);
    partition.in_flight = 3;
    assert_eq!(partition.decide(0).limits_json(), r#"{"a":3,"b":7}"#);
}

#[test]
fn a_state_follows_the_name_and_is_dropped_with_it() {
    let mut partition = Partition::of(&policy());
    partition.take(0, 10);
    partition.policy = builder()
        .throttle(|t| t.rate(20.0).per(seconds(3600)).named("hour"))
        .throttle(|t| t.rate(10.0).per(seconds(60)).named("renamed"))
        .build()
        .unwrap();
    assert_eq!(partition.allowance(0), 10, "the hour goes on, the minute is new");
    partition.take(0, 0);
    let states = partition.states.unwrap();
    assert!(states.contains("renamed") && !states.contains("minute"), "{states}");
}

#[test]
fn a_retry_time_is_never_in_the_past_whatever_the_year() {
    let year_12_000 = 315_000_000_000 * SECOND;
    let throttle = builder().throttle(|t| t.rate(1.0).per(seconds(1)));
    let mut empty = Partition::of(&throttle.build().unwrap());
    empty.take(year_12_000, 1);
    let concurrency = builder().concurrency(|c| c.max(0.0));
    let full = Partition::of(&concurrency.build().unwrap());
    for partition in [empty, full] {
        let denial = partition.decide(year_12_000).denial.unwrap();
        assert!(denial.until >= at(year_12_000), "{denial:?}");
    }
}

proptest! {
    #[test]
    fn every_bad_number_denies_with_its_reason_wherever_it_stands(
        bad in prop::sample::select(vec!["-1", "1e400", "-1e400", "\"5\"", "true", "[]", "{}", "null"]),
        parameter in prop::sample::select(vec!["rate", "burst", "max"]),
        good in 1_u32..100,
    ) {
        let policy = builder()
            .throttle(|t| t.rate_from("rate", None).per(seconds(60)).burst_from("burst", None))
            .concurrency(|c| c.max_from("max", None))
            .build()
            .unwrap();
        let of = |name: &str| if name == parameter { bad.to_owned() } else { good.to_string() };
        let json = format!(r#"{{"rate":{},"burst":{},"max":{}}}"#, of("rate"), of("burst"), of("max"));
        let mut partition = Partition::of(&policy);
        partition.context = context(&json);
        let decision = partition.decide(0);
        prop_assert_eq!(decision.allowance, 0);
        prop_assert_eq!(decision.due, at(60 * SECOND));
        prop_assert_eq!(decision.eligible_at, Some(at(60 * SECOND)));
        let denial = decision.denial.unwrap();
        prop_assert_eq!(denial.reason, DenyReason::BadParameter);
        prop_assert_eq!(denial.event, Some(WakeEvent::ContextChange));
        prop_assert_eq!(denial.bad.as_ref().unwrap().parameter, parameter);
    }
}

#[test]
fn a_denial_says_which_number_is_wrong() {
    let policy = builder().concurrency(|c| c.max_from("limits.max", None));
    let denial = Partition::of(&policy.build().unwrap()).decide(0).denial.unwrap();
    assert_eq!(
        denial.to_string(),
        "gate concurrency: limit cannot be read, `max`: the context has no `limits.max` and there is no default"
    );
}

#[test]
fn every_reason_has_a_code_of_its_own_that_leads_back_to_it() {
    for reason in DenyReason::ALL {
        assert_eq!(DenyReason::from_code(reason.code()), Some(reason));
        assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{reason}\""));
        assert!(!reason.label().is_empty() && reason.hint().ends_with('.'));
    }
    assert_eq!(DenyReason::from_code("because"), None);
}
