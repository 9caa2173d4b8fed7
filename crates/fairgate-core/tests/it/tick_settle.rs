use fairgate_core::{Claimed, DenyReason, Due, Policy, Settlement, plan};

use crate::support::{SECOND, at, builder, claimed, limits, seconds, throttled};

const MILLISECOND: i64 = 1_000;

/// Settles one partition of which `taken` jobs were taken.
fn settle(policy: &Policy, partition: &Claimed, budget: Option<u32>, taken: u32) -> Settlement {
    let plan = plan(policy, std::slice::from_ref(partition), &limits(budget), at(0));
    plan.settle(&[taken]).remove(0)
}

fn ungated() -> Policy {
    builder().build().unwrap()
}

#[test]
fn a_partition_that_is_emptied_is_idle() {
    let settled = settle(&ungated(), &claimed("k", 7), None, 7);
    assert_eq!(settled.due, Due::Idle);
    assert_eq!((settled.eligible_at, settled.denial), (None, None));
}

#[test]
fn an_idle_partition_remembers_when_its_throttle_lets_the_next_job_go() {
    let settled = settle(&throttled(1.0, seconds(60), 3.0), &claimed("k", 3), None, 3);
    assert_eq!(settled.due, Due::Idle);
    assert_eq!(settled.eligible_at, Some(at(60 * SECOND)));
    assert_eq!(settled.denial, None, "nothing waits, so nothing is held");
}

#[test]
fn what_waits_and_may_go_is_due_in_its_turn() {
    let settled = settle(&ungated(), &claimed("k", 150), None, 100);
    assert_eq!((settled.due, settled.eligible_at), (Due::Now, None));
}

#[test]
fn what_waits_and_may_not_go_is_due_when_its_gates_say_so() {
    let policy = throttled(1.0, seconds(60), 3.0);
    let settled = settle(&policy, &claimed("k", 10), None, 3);
    assert_eq!(settled.due, Due::At(at(60 * SECOND)));
    assert_eq!(settled.eligible_at, Some(at(60 * SECOND)));
    assert_eq!(settled.denial.unwrap().reason, DenyReason::RateLimited);
}

#[test]
fn slots_that_were_just_taken_count() {
    let policy = builder().concurrency(|c| c.max(5.0)).build().unwrap();
    let partition = Claimed { in_flight: 2, ..claimed("k", 10) };
    let settled = settle(&policy, &partition, None, 3);
    assert_eq!(settled.due, Due::At(at(SECOND)));
    assert_eq!(settled.eligible_at, None);
    let denial = settled.denial.unwrap();
    assert_eq!((denial.used, denial.limit), (Some(5.0), Some(5.0)));
}

#[test]
fn a_denied_partition_keeps_its_reason_and_retry_time() {
    let policy = throttled(1.0, seconds(60), 1.0);
    let first = settle(&policy, &claimed("k", 10), None, 1);
    let partition = Claimed { gates: Some(first.gates), ..claimed("k", 9) };
    let settled = settle(&policy, &partition, None, 0);
    assert_eq!(settled.due, Due::At(at(60 * SECOND)));
    assert_eq!(settled.denial.unwrap().reason, DenyReason::RateLimited);
}

#[test]
fn rows_that_others_hold_are_looked_at_again_shortly() {
    let settled = settle(&ungated(), &claimed("k", 10), None, 4);
    assert_eq!(settled.due, Due::At(at(10 * MILLISECOND)));
    assert_eq!(settled.denial, None);
}

#[test]
fn only_what_was_really_taken_is_charged() {
    let policy = throttled(1.0, seconds(60), 5.0);
    let settled = settle(&policy, &claimed("k", 5), None, 2);
    let partition = Claimed { gates: Some(settled.gates), ..claimed("k", 9) };
    assert_eq!(plan(&policy, &[partition], &limits(None), at(0)).looks[0].take, 3);
}

#[test]
fn whoever_the_budget_starved_is_due_in_its_turn_and_says_so() {
    let plan = plan(&ungated(), &[claimed("a", 5), claimed("b", 5)], &limits(Some(1)), at(0));
    let settled = plan.settle(&[1, 0]);
    assert!(!settled[0].starved && settled[1].starved);
    assert_eq!(settled[1].due, Due::Now);
    let denial = settled[1].denial.as_ref().unwrap();
    assert_eq!((denial.reason, &denial.gate), (DenyReason::TickCapExhausted, &None));
}

#[test]
fn being_served_ends_starvation() {
    let partition = Claimed { starved: true, ..claimed("k", 5) };
    assert!(!settle(&ungated(), &partition, Some(1), 1).starved);
    let emptied = Claimed { starved: true, ..claimed("k", 0) };
    assert!(!settle(&ungated(), &emptied, Some(1), 0).starved);
}

#[test]
fn activity_is_what_is_left_of_it_and_what_was_taken() {
    let partition = Claimed { recent: 8.0, recent_at: at(-60 * SECOND), ..claimed("k", 5) };
    let settled = settle(&ungated(), &partition, None, 3);
    assert!((settled.recent - 7.0).abs() < 1e-9, "{}", settled.recent);
    assert_eq!(settled.recent_at, at(0));
}

#[test]
fn the_instant_of_activity_never_moves_back() {
    let partition = Claimed { recent: 8.0, recent_at: at(60 * SECOND), ..claimed("k", 5) };
    let settled = settle(&ungated(), &partition, None, 3);
    assert_eq!((settled.recent, settled.recent_at), (11.0, at(60 * SECOND)));
}

#[test]
fn every_partition_is_settled_also_without_a_count() {
    let plan = plan(&ungated(), &[claimed("a", 5), claimed("b", 5)], &limits(None), at(0));
    assert_eq!(plan.settle(&[]).len(), 2);
    assert_eq!(plan.settle(&[1, 2, 3]).len(), 2);
}

#[test]
fn the_caps_in_force_are_on_the_look() {
    let policy = builder().concurrency(|c| c.max(5.0)).build().unwrap();
    let plan = plan(&policy, &[claimed("a", 5)], &limits(None), at(0));
    assert_eq!(plan.looks[0].limits, r#"{"concurrency":5}"#);
    let free = self::plan(&ungated(), &[claimed("a", 5)], &limits(None), at(0));
    assert_eq!(free.looks[0].limits, "{}");
}
