//! What the scopes that a tick holds leave to its partitions.

use std::time::Duration;

use fairgate_core::policy::FairnessBuilder;
use fairgate_core::tick_plan::{Lane, assess_scope, forced};
use fairgate_core::verdict::Verdict;
use fairgate_core::{
    Claimed, DenyReason, Due, GateName, HeldScope, Limits, Place, PlaceSettlement, Policy, Scopes, TickPlan,
    plan_scoped,
};

use crate::support::{SECOND, at, builder, claimed, context, limits};

/// One gate of one slot-limited scope, which all partitions count towards.
fn capped(max: f64) -> Policy {
    builder().concurrency(|c| c.max(max).scope("a")).build().unwrap()
}

fn held(gate: usize, in_flight: i64) -> HeldScope {
    HeldScope { gate, context: context("{}"), in_flight, states: None, waited: false, woken: 0 }
}

fn place(scopes: &[usize]) -> Place {
    Place { scopes: Some(scopes.to_vec()), woken: false, since: at(-SECOND) }
}

fn partition(key: &str, pending: i64) -> Claimed {
    Claimed { context: context(r#"{"a":1,"b":2}"#), ..claimed(key, pending) }
}

fn plan(policy: &Policy, pending: &[i64], scopes: Scopes, limits: &Limits) -> TickPlan {
    let claimed: Vec<Claimed> = pending.iter().map(|&n| partition("k", n)).collect();
    plan_scoped(policy, &claimed, Some(scopes), limits, &Lane::default(), at(0))
}

fn takes(plan: &TickPlan) -> Vec<u32> {
    plan.looks.iter().map(|look| look.take).collect()
}

#[test]
fn partitions_of_a_scope_share_what_is_free_and_never_take_more() {
    let scopes = Scopes { held: vec![held(0, 3)], places: vec![place(&[0]); 4] };
    let plan = plan(&capped(10.0), &[9, 1, 9, 9], scopes, &limits(None));
    assert_eq!(takes(&plan), [1, 1, 2, 3], "7 are free; what one does not want is left to those behind");
    assert!(plan.looks.iter().all(|look| look.limits == r#"{"concurrency":10}"#));
}

#[test]
fn who_finds_a_scope_empty_waits_for_it_and_says_why() {
    let scopes = Scopes { held: vec![held(0, 9)], places: vec![place(&[0]); 3] };
    let plan = plan(&capped(10.0), &[1, 4, 4], scopes, &limits(None));
    assert_eq!(takes(&plan), [1, 0, 0]);
    let taken = [1, 0, 0];
    let mut settlements = plan.settle(&taken);
    let scoped = plan.settle_scopes(&taken, &mut settlements);
    let parked = PlaceSettlement::Parked(0, at(-SECOND));
    assert_eq!(scoped.places, [PlaceSettlement::Settled, parked, parked]);
    assert_eq!(settlements[1].due, Due::Idle);
    assert_eq!(settlements[1].denial.as_ref().unwrap().reason, DenyReason::ConcurrencyFull);
    let scope = scoped.scopes[0].as_ref().unwrap();
    assert_eq!((scope.taken, scope.slots, scope.waited), (1, 1, true));
    assert_eq!(scope.due_at, Some(at(SECOND)), "full: looked at again after the back-off");
}

#[test]
fn a_scope_that_has_room_after_all_wakes_at_once() {
    let scopes = Scopes { held: vec![held(0, 9)], places: vec![place(&[0]); 2] };
    let plan = plan(&capped(10.0), &[4, 4], scopes, &limits(None));
    assert_eq!(takes(&plan), [1, 0]);
    // Somebody had locked the job.
    let mut settlements = plan.settle(&[0, 0]);
    let scoped = plan.settle_scopes(&[0, 0], &mut settlements);
    assert_eq!(scoped.places[0], PlaceSettlement::Settled, "it did not take what it was given");
    assert_eq!(scoped.scopes[0].as_ref().unwrap().due_at, Some(at(0)));
}

#[test]
fn nobody_passes_those_that_wait_but_who_was_woken() {
    let waited = HeldScope { waited: true, woken: 1, ..held(0, 7) };
    let woken = Place { woken: true, ..place(&[0]) };
    let scopes = Scopes { held: vec![waited], places: vec![place(&[0]), woken] };
    let plan = plan(&capped(10.0), &[4, 2], scopes, &limits(None));
    assert_eq!(takes(&plan), [0, 2]);
    let mut settlements = plan.settle(&[0, 2]);
    let scoped = plan.settle_scopes(&[0, 2], &mut settlements);
    assert_eq!(scoped.places, [PlaceSettlement::Parked(0, at(-SECOND)), PlaceSettlement::Settled]);
    let scope = scoped.scopes[0].as_ref().unwrap();
    assert_eq!((scope.woken, scope.due_at), (0, Some(at(0))), "one slot is left, and somebody waits");
}

#[test]
fn a_job_takes_of_all_its_scopes_or_of_none() {
    let policy = builder()
        .concurrency(|c| c.named("a").max(10.0).scope("a"))
        .concurrency(|c| c.named("b").max(2.0).scope("b"))
        .build()
        .unwrap();
    let scopes = Scopes {
        held: vec![held(0, 0), held(1, 2), held(1, 0)],
        places: vec![place(&[0, 1]), place(&[0, 2])],
    };
    let plan = plan(&policy, &[5, 5], scopes, &limits(None));
    assert_eq!(takes(&plan), [0, 2], "the first holds nothing of what it could not use");
    let mut settlements = plan.settle(&[0, 2]);
    let scoped = plan.settle_scopes(&[0, 2], &mut settlements);
    assert_eq!(scoped.places[0], PlaceSettlement::Parked(1, at(-SECOND)));
    assert_eq!(scoped.places[1], PlaceSettlement::Parked(2, at(0)), "it was served now");
    assert_eq!(scoped.scopes[0].as_ref().unwrap().slots, 2);
}

#[test]
fn who_has_not_all_its_scopes_is_left_as_it_was_and_so_is_who_finds_the_policy_full() {
    let policy = builder().concurrency(|c| c.max(1.0).scope_policy()).build().unwrap();
    let unheld = Place { scopes: None, ..place(&[]) };
    let scopes = Scopes { held: vec![held(0, 0)], places: vec![unheld, place(&[0]), place(&[0])] };
    let plan = plan(&policy, &[5, 5, 5], scopes, &limits(None));
    assert_eq!(takes(&plan), [0, 1, 0]);
    let taken = [0, 1, 0];
    let settlements = plan.settle(&taken);
    let mut again = settlements.clone();
    let scoped = plan.settle_scopes(&taken, &mut again);
    assert_eq!(scoped.places, [PlaceSettlement::Left, PlaceSettlement::Settled, PlaceSettlement::Left]);
    let (ids, taken, written) = scoped.written(&["x", "y", "z"], &taken, settlements);
    assert_eq!((ids.as_ref(), taken.as_ref(), written.len()), (["y"].as_slice(), [1].as_slice(), 1));
}

#[test]
fn a_budget_that_leaves_some_of_a_scope_makes_nobody_wait() {
    let scopes = Scopes { held: vec![held(0, 0)], places: vec![place(&[0])] };
    let plan = plan(&capped(4.0), &[9], scopes, &limits(Some(2)));
    assert_eq!(takes(&plan), [2]);
    let mut settlements = plan.settle(&[2]);
    let scoped = plan.settle_scopes(&[2], &mut settlements);
    assert_eq!((scoped.places[0], settlements[0].due), (PlaceSettlement::Settled, Due::Now));
}

#[test]
fn a_throttle_of_a_scope_is_charged_for_all_its_partitions_together() {
    let policy = builder()
        .throttle(|t| t.rate(5.0).per(std::time::Duration::from_secs(1)).scope("a"))
        .build()
        .unwrap();
    let scopes = Scopes { held: vec![held(0, 0)], places: vec![place(&[0]); 2] };
    let first = plan(&policy, &[2, 9], scopes, &limits(None));
    assert_eq!(takes(&first), [2, 3]);
    let mut settlements = first.settle(&[2, 3]);
    let scoped = first.settle_scopes(&[2, 3], &mut settlements);
    let scope = scoped.scopes[0].clone().unwrap();
    assert_eq!((scope.taken, scope.slots), (5, 0));
    assert_eq!(scope.due_at, Some(at(SECOND / 5)), "the next token");
    let emptied = HeldScope { states: Some(scope.states), ..held(0, 0) };
    let scopes = Scopes { held: vec![emptied], places: vec![place(&[0])] };
    let second = plan_scoped(
        &policy,
        &[partition("k", 5)],
        Some(scopes),
        &limits(None),
        &Lane::default(),
        at(2 * SECOND / 5),
    );
    assert_eq!(takes(&second), [2]);
}

#[test]
fn weights_share_what_the_policys_own_scope_has() {
    let policy = builder()
        .fairness(FairnessBuilder::weighted().weight_from("weight", Some(1.0)))
        .concurrency(|c| c.max(16.0).scope("policy"))
        .build()
        .unwrap();
    let claimed = [3, 1].map(|weight| Claimed {
        context: context(&format!(r#"{{"weight":{weight}}}"#)),
        ..partition("k", 50)
    });
    let scopes = Scopes { held: vec![held(0, 8)], places: vec![place(&[0]); 2] };
    let plan = plan_scoped(&policy, &claimed, Some(scopes), &limits(None), &Lane::default(), at(0));
    assert_eq!(takes(&plan), [6, 2], "8 are free");
    let taken = [6, 2];
    let scoped = plan.settle_scopes(&taken, &mut plan.settle(&taken));
    assert_eq!(scoped.scopes[0].as_ref().unwrap().slots, 8);
    assert_eq!(scoped.places, [PlaceSettlement::Settled; 2], "nobody waits for the policy's own scope");
}

#[test]
fn a_weighted_partition_that_gets_nothing_of_the_policys_own_scope_is_told_which_gate_is_full() {
    let policy = builder()
        .fairness(FairnessBuilder::weighted())
        .concurrency(|c| c.named("all").max(16.0).scope("policy"))
        .build()
        .unwrap();
    let claimed = [partition("a", 50), partition("b", 50)];
    let scopes = Scopes { held: vec![held(0, 15)], places: vec![place(&[0]); 2] };
    let plan = plan_scoped(&policy, &claimed, Some(scopes), &limits(None), &Lane::default(), at(0));
    assert_eq!(takes(&plan), [1, 0]);
    let denial = plan.looks[1].denial.as_ref().unwrap();
    assert_eq!(denial.reason, DenyReason::ConcurrencyFull);
    assert_eq!(denial.gate.as_ref().map(GateName::as_str), Some("all"));
}

#[test]
fn forced_jobs_hold_slots_of_their_scopes_and_put_their_buckets_into_debt() {
    let policy = builder()
        .concurrency(|c| c.max(2.0).scope("a"))
        .throttle(|t| t.rate(1.0).per(Duration::from_secs(1)).burst(1.0).scope("b"))
        .build()
        .unwrap();
    let scopes = Scopes { held: vec![held(0, 2), held(1, 0)], places: vec![place(&[0, 1])] };
    let plan = forced(&policy, &[partition("k", 9)], &[5], Some(scopes), &limits(None), at(0));
    assert_eq!(takes(&plan), [5]);
    let scoped = plan.settle_scopes(&[5], &mut plan.settle(&[5]));
    assert_eq!(scoped.places, [PlaceSettlement::Settled]);
    let [cap, bucket] = scoped.scopes.as_slice() else { panic!("two scopes") };
    assert_eq!(cap.as_ref().unwrap().slots, 5);
    let bucket = bucket.as_ref().unwrap();
    assert_eq!((bucket.taken, bucket.slots), (5, 0));
    let bucket = HeldScope { states: Some(bucket.states.clone()), ..held(1, 0) };
    let next = assess_scope(&policy, &bucket, at(4 * SECOND)).verdict;
    assert!(matches!(next, Verdict::Deny(denial) if denial.until == at(5 * SECOND)), "4 of 5 are paid back");
}
