//! Shadow gates: asked, charged, counted, never obeyed.

use fairgate_core::{Claimed, DenyReason, Due, TickReport, plan};

use crate::support::{Partition, SECOND, at, builder, claimed, limits, seconds};

#[test]
fn a_shadow_gate_changes_nothing_that_is_admitted() {
    let policy = builder()
        .throttle(|t| t.rate(1.0).per(seconds(60)).shadow(true))
        .concurrency(|c| c.max(0.0).shadow(true))
        .adaptive_concurrency(|a| a.initial_max(1.0).target_lag_ms(1.0).shadow(true))
        .build()
        .unwrap();
    let plan = plan(&policy, &[Claimed { in_flight: 5, ..claimed("k", 30) }], &limits(None), at(0));
    let look = &plan.looks[0];
    assert_eq!((look.take, &look.denial, look.limits.as_str()), (30, &None, "{}"));
    let reasons: Vec<_> = look.shadow_denials().iter().map(|denial| denial.reason).collect();
    assert_eq!(reasons, [DenyReason::ConcurrencyFull, DenyReason::AdaptiveFull]);
    let settled = plan.settle(&[20]).remove(0);
    assert_eq!((settled.due, settled.eligible_at, settled.denial), (Due::At(at(10_000)), None, None));
}

#[test]
fn a_shadow_gate_is_charged_what_it_would_have_allowed() {
    let bucket = |shadow, taken| {
        let policy = builder().throttle(|t| t.rate(6.0).per(seconds(60)).burst(5.0).shadow(shadow));
        let mut partition = Partition::of(&policy.build().unwrap());
        partition.take(0, taken);
        partition
    };
    assert_eq!(bucket(true, 100).states, bucket(false, 5).states, "no debt for what it would have held");
    assert_eq!(bucket(true, 3).states, bucket(false, 3).states);
    let mut empty = bucket(true, 5);
    empty.take(SECOND, 50);
    assert_eq!(empty.decide(10 * SECOND).shadow_denials, [], "a token has come, as if the 50 had waited");
}

#[test]
fn a_shadow_adaptive_cap_learns_and_counts_no_more_than_itself() {
    let policy = builder()
        .adaptive_concurrency(|a| a.initial_max(4.0).target_lag_ms(1_000.0).shadow(true))
        .build()
        .unwrap();
    let mut tenant = crate::adaptive::Tenant::of(policy);
    assert_eq!(tenant.tick_taking(0, &[], 50), 50);
    tenant.tick_taking(SECOND, &[(0, 0.0, "s")], 50);
    assert_eq!(tenant.cap(), 6, "it would have been the limit");
}

#[test]
fn the_denials_of_shadow_gates_are_counted_apart() {
    let policy = builder()
        .concurrency(|c| c.max(5.0).named("tight").shadow(true))
        .concurrency(|c| c.max(5.0).named("tight_too").shadow(true))
        .concurrency(|c| c.max(9.0))
        .build()
        .unwrap();
    let partitions = [
        Claimed { in_flight: 5, ..claimed("over", 10) },
        Claimed { in_flight: 9, ..claimed("full", 10) },
        Claimed { in_flight: 9, ..claimed("nothing waits", 0) },
        claimed("free", 10),
    ];
    let plan = plan(&policy, &partitions, &limits(None), at(0));
    let mut report = TickReport::of(&plan, &[4, 0, 0, 9]);
    assert_eq!((report.partitions_admitted, report.partitions_denied), (2, 1));
    assert_eq!(report.denials, [(DenyReason::ConcurrencyFull, 1)].into());
    assert_eq!(report.shadow_denials, [(DenyReason::ConcurrencyFull, 4)].into());
    report.merge(&report.clone());
    assert_eq!(report.denials_json(), r#"{"concurrency_full":2,"shadow:concurrency_full":8}"#);
}

#[test]
fn without_shadow_gates_a_report_reads_as_it_would_without_the_word() {
    let report = TickReport { denials: [(DenyReason::RateLimited, 3)].into(), ..TickReport::default() };
    assert_eq!(report.denials_json(), r#"{"rate_limited":3}"#);
    assert!(!serde_json::to_string(&report).unwrap().contains("shadow"));
}

#[test]
fn a_shadow_gate_whose_number_cannot_be_read_holds_nothing() {
    let policy = builder().concurrency(|c| c.max_from("max", None).shadow(true)).build().unwrap();
    let decision = Partition::of(&policy).decide(0);
    assert_eq!((decision.allowance, decision.denial), (u64::MAX, None));
    assert_eq!(decision.shadow_denials[0].reason, DenyReason::BadParameter);
}
