//! Limits of one partition that are overridden for a while.

use fairgate_core::forecast::forecast_under;
use fairgate_core::{Claimed, DenyReason, Due, Facts, GateStates, Overrides, Policy, Settlement, plan};

use crate::support::{SECOND, at, builder, claimed, context, limits, micros, seconds, throttled};

/// The JSON of overrides: gate, parameter, value, and the end in microseconds as [`at`] counts.
fn overrides(of: &[(&str, &str, f64, i64)]) -> Option<String> {
    let list: Vec<_> = of.iter().map(|&(g, p, v, end)| (g, p, v, at(end).timestamp_micros())).collect();
    Some(serde_json::to_string(&list).unwrap())
}

fn capped(max: f64) -> Policy {
    builder().concurrency(|c| c.max(max)).build().unwrap()
}

/// One look: what it takes, the caps it writes, and what it settles when all of that is really taken.
fn look(policy: &Policy, partition: &Claimed, now: i64) -> (u32, String, Settlement) {
    let plan = plan(policy, std::slice::from_ref(partition), &limits(None), at(now));
    let look = &plan.looks[0];
    let (take, caps) = (look.take, look.limits.clone());
    (take, caps, plan.settle(&[take]).remove(0))
}

#[test]
fn an_override_takes_the_place_of_the_number_until_its_end_and_no_longer() {
    let policy = capped(2.0);
    let partition =
        Claimed { overrides: overrides(&[("concurrency", "max", 5.0, SECOND)]), ..claimed("k", 9) };
    let (take, caps, _) = look(&policy, &partition, SECOND - 1);
    assert_eq!(
        (take, caps.as_str()),
        (5, r#"{"concurrency":5}"#),
        "the cap that is written is the one in force"
    );
    let (take, caps, _) = look(&policy, &partition, SECOND);
    assert_eq!((take, caps.as_str()), (2, r#"{"concurrency":2}"#), "at the instant of its end it is over");
}

#[test]
fn an_override_takes_the_place_of_a_number_that_cannot_be_used() {
    let policy = builder().concurrency(|c| c.max_from("max", None)).build().unwrap();
    let bad = Claimed { context: context(r#"{"max": "five"}"#), ..claimed("k", 9) };
    assert_eq!(look(&policy, &bad, 0).2.denial.unwrap().reason, DenyReason::BadParameter);
    let partition = Claimed { overrides: overrides(&[("concurrency", "max", 3.0, SECOND)]), ..bad };
    assert_eq!(look(&policy, &partition, 0).0, 3);
}

#[test]
fn every_number_of_every_gate_can_be_overridden() {
    let policy = builder()
        .throttle(|t| t.rate(1.0).per(seconds(1)))
        .concurrency(|c| c.max(100.0))
        .adaptive_concurrency(|a| a.initial_max(100.0).target_lag_ms(1.0));
    let policy = policy.build().unwrap();
    let names: Vec<_> = policy.gates().iter().map(|g| (g.name().to_string(), g.parameters())).collect();
    for (gate, parameters) in names {
        for parameter in parameters {
            let one = overrides(&[(&gate, parameter, 7.0, SECOND)]);
            let ruled = Overrides::parse(one.as_deref()).in_force(&policy, at(0));
            let numbers = format!("{:?}", ruled.gates());
            assert!(numbers.contains("Fixed(7.0)"), "{gate}.{parameter}: {numbers}");
        }
    }
}

#[test]
fn what_waits_is_looked_at_at_the_end_of_an_override() {
    let policy = capped(5.0);
    let lowered = overrides(&[("concurrency", "max", 1.0, SECOND / 2)]);
    let full = Claimed { in_flight: 1, overrides: lowered, ..claimed("k", 9) };
    let (take, _, settled) = look(&policy, &full, 0);
    assert_eq!((take, settled.due), (0, Due::At(at(SECOND / 2))), "before the backoff of the gate");
    assert_eq!(look(&policy, &full, SECOND / 2).0, 4);
}

#[test]
fn a_retry_time_before_the_end_stands() {
    let policy = throttled(1.0, seconds(1), 1.0);
    let raised = overrides(&[("throttle", "rate", 2.0, 60 * SECOND)]);
    let (take, _, settled) = look(&policy, &Claimed { overrides: raised, ..claimed("k", 9) }, 0);
    assert_eq!((take, settled.due), (1, Due::At(at(SECOND / 2))));
}

#[test]
fn no_job_that_comes_later_waits_past_the_end() {
    let policy = throttled(1.0, seconds(3_600), 1.0);
    let stopped = overrides(&[("throttle", "rate", 0.0, 5 * SECOND)]);
    let (_, _, settled) = look(&policy, &Claimed { overrides: stopped, ..claimed("k", 1) }, 0);
    assert_eq!(settled.eligible_at, Some(at(5 * SECOND)));
}

#[test]
fn a_bucket_fills_by_the_overridden_rate_until_the_end_however_late_the_look_is() {
    let policy = throttled(1.0, seconds(1), 100.0);
    let (take, _, settled) = look(&policy, &claimed("k", 100), 0);
    assert_eq!(take, 100);
    for (rate, at_end) in [(5.0, 20), (0.0, 0)] {
        let one = overrides(&[("throttle", "rate", rate, 4 * SECOND)]);
        let emptied = Claimed { gates: Some(settled.gates.clone()), overrides: one, ..claimed("k", 0) };
        let (_, _, made) = look(&policy, &emptied, 0);
        let late = Claimed { gates: Some(made.gates), pending: 1_000, ..emptied };
        assert_eq!(look(&policy, &late, 10 * SECOND).0, at_end + 6, "four seconds at {rate}, six at 1");
    }
}

#[test]
fn what_does_not_fit_the_policy_or_cannot_be_read_changes_nothing() {
    let policy = capped(2.0);
    let strange = overrides(&[("gone", "max", 9.0, SECOND), ("concurrency", "rate", 9.0, SECOND)]);
    let unreadable = Some(r#"[["concurrency", "max", -1.0, 1800000000000000], 5]"#.to_owned());
    for overrides in [strange, unreadable, Some("no JSON".to_owned())] {
        assert_eq!(look(&policy, &Claimed { overrides, ..claimed("k", 9) }, 0).0, 2);
    }
}

#[test]
fn a_forecast_knows_the_ends_of_overrides() {
    let facts_context = context("{}");
    let facts = Facts { context: &facts_context, pending: 4, in_flight: 2 };
    let told = |policy: &Policy, of: &[(&str, &str, f64, i64)]| {
        let overrides = Overrides::parse(overrides(of).as_deref());
        forecast_under(policy, &overrides, &facts, &GateStates::default(), at(0))
    };
    let lowered = told(&capped(5.0), &[("concurrency", "max", 1.0, 3 * SECOND)]);
    assert_eq!((lowered.at.map(micros), lowered.lasting.len()), (Some(3 * SECOND), 0));
    let raised = told(&capped(2.0), &[("concurrency", "max", 9.0, 3 * SECOND)]);
    assert_eq!(raised.at.map(micros), Some(0), "in force it lets go what the policy alone would not");
    let twice = [("concurrency", "max", 1.0, 3 * SECOND), ("throttle", "rate", 0.0, 7 * SECOND)];
    let both = builder().concurrency(|c| c.max(5.0)).throttle(|t| t.rate(1.0).per(seconds(1)));
    assert_eq!(told(&both.build().unwrap(), &twice).at.map(micros), Some(7 * SECOND));
    let full = told(&capped(2.0), &[("concurrency", "max", 1.0, 3 * SECOND)]);
    assert_eq!((full.at, full.lasting.len()), (None, 1), "after its end it is full all the same");
}
