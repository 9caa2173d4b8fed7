//! Each hint is given from its threshold on, and not before.

use std::time::Duration;

use fairgate_core::hint::{CODES, EngineFacts, Hint, PolicyFacts, Severity, THRESHOLDS, hints};

fn engine() -> EngineFacts {
    EngineFacts { enabled: true, tickers: 1, tick_max: Duration::from_secs(25), ..EngineFacts::default() }
}

fn policy() -> PolicyFacts {
    PolicyFacts { name: "p".to_owned(), enabled: true, ..PolicyFacts::default() }
}

fn codes(engine: &EngineFacts, policy: PolicyFacts) -> Vec<&'static str> {
    let given: Vec<Hint> = hints(engine, &[policy], &THRESHOLDS);
    for hint in &given {
        assert!(CODES.contains(&hint.code), "{} is on the list", hint.code);
        assert!(!hint.found.is_empty() && !hint.advice.is_empty());
    }
    given.into_iter().map(|hint| hint.code).collect()
}

fn of(policy: PolicyFacts) -> Vec<&'static str> {
    codes(&engine(), policy)
}

#[test]
fn an_engine_at_rest_gives_no_hint() {
    assert_eq!(of(policy()), [""; 0]);
}

#[test]
fn a_disabled_engine_is_a_problem() {
    assert_eq!(codes(&EngineFacts { enabled: false, ..engine() }, policy()), ["disabled"]);
}

#[test]
fn a_missing_ticker_is_a_problem_as_soon_as_something_waits() {
    let alone = EngineFacts { tickers: 0, ..engine() };
    let severity = |pending| hints(&alone, &[PolicyFacts { pending, ..policy() }], &THRESHOLDS)[0].severity;
    assert_eq!((severity(0), severity(1)), (Severity::Warning, Severity::Problem));
}

#[test]
fn switched_off_policies_are_named_with_what_waits() {
    assert_eq!(of(PolicyFacts { paused: true, pending: 3, ..policy() }), ["policy_paused"]);
    assert_eq!(of(PolicyFacts { enabled: false, ..policy() }), ["policy_disabled"]);
}

#[test]
fn a_queue_that_is_not_ready_is_a_problem() {
    let problem = Some("no table".to_owned());
    assert_eq!(of(PolicyFacts { queue_problem: problem, ..policy() }), ["queue_not_ready"]);
}

#[test]
fn a_tick_is_too_long_from_four_fifths_of_its_limit_on() {
    let took = |seconds| of(PolicyFacts { slowest_tick: Duration::from_secs(seconds), ..policy() });
    assert_eq!((took(19), took(20)), (vec![], vec!["slow_tick"]));
}

#[test]
fn a_backlog_tells_when_it_has_drained_unless_that_is_soon() {
    let at = |admitted| of(PolicyFacts { pending: 1_000, admitted, arrived: Some(0.0), ..policy() });
    assert_eq!((at(100.0), at(101.0)), (vec!["backlog_drains"], vec![]));
    let small = PolicyFacts { pending: 999, admitted: 1.0, arrived: Some(0.0), ..policy() };
    assert_eq!(of(small), [""; 0]);
}

#[test]
fn arrivals_outrun_admission_from_a_fifth_more_on() {
    let come =
        |arrived| of(PolicyFacts { pending: 1_000, admitted: 100.0, arrived: Some(arrived), ..policy() });
    assert_eq!((come(120.0), come(121.0)), (vec![], vec!["arrivals_outrun"]));
    let unknown = PolicyFacts { pending: 1_000, admitted: 100.0, arrived: None, ..policy() };
    assert_eq!(of(unknown), [""; 0], "nothing is concluded from nothing");
}

#[test]
fn one_refused_job_is_told() {
    assert_eq!(of(PolicyFacts { failures: 1, ..policy() }), ["handover_failures"]);
    assert_eq!(of(PolicyFacts { quarantined: 1, ..policy() }), ["quarantined"]);
}

#[test]
fn partitions_without_a_first_look_are_a_problem_unless_the_policy_rests() {
    assert_eq!(of(PolicyFacts { never_checked: 1, ..policy() }), ["never_checked"]);
    assert_eq!(of(PolicyFacts { never_checked: 1, paused: true, ..policy() }), ["policy_paused"]);
}

#[test]
fn a_million_partitions_are_many() {
    let many = |partitions| of(PolicyFacts { partitions, ..policy() });
    assert_eq!((many(999_999), many(1_000_000)), (vec![], vec!["many_partitions"]));
}

#[test]
fn nine_tenths_of_the_target_are_close_to_it() {
    let target = EngineFacts { target: Some(10.0), ..engine() };
    let at = |admitted| codes(&target, PolicyFacts { admitted, ..policy() });
    assert_eq!((at(539.0), at(540.0)), (vec![], vec!["near_target"]));
}

#[test]
fn a_backlog_is_held_by_gates_or_by_too_few_workers() {
    let held = |gate_denials, queue_denials| {
        of(PolicyFacts { pending: 1_000, gate_denials, queue_denials, ..policy() })
    };
    assert_eq!(held(20, 0), ["gates_hold"]);
    assert_eq!(held(0, 20), ["few_workers"]);
    assert_eq!(held(10, 10), [""; 0], "neither is most of it");
    assert_eq!(held(19, 0), [""; 0], "too few looks to say");
}

#[test]
fn a_held_snapshot_is_told_with_its_owner() {
    let held = |seconds| {
        let whose = "pid 7, report".to_owned();
        let engine = EngineFacts { oldest_snapshot: Some((Duration::from_secs(seconds), whose)), ..engine() };
        hints(&engine, &[policy()], &THRESHOLDS).pop()
    };
    assert_eq!(held(299), None);
    assert!(held(300).expect("a hint").found.contains("pid 7, report"));
}

#[test]
fn the_most_urgent_hint_comes_first() {
    let both = PolicyFacts { quarantined: 1, never_checked: 1, ..policy() };
    assert_eq!(of(both), ["never_checked", "quarantined"]);
}

#[test]
fn a_retired_policy_is_told_of_only_while_it_holds_jobs() {
    let retired = PolicyFacts { retired: true, paused: true, ..policy() };
    assert_eq!(of(retired.clone()), [""; 0]);
    assert_eq!(of(PolicyFacts { pending: 1, ..retired }), ["policy_paused"]);
}
