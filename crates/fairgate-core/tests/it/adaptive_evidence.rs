//! When a job speaks for a larger cap: it was admitted while the cap was what held others back.

use crate::adaptive::Tenant;
use crate::support::{SECOND, builder};

#[test]
fn it_grows_only_on_jobs_admitted_while_it_was_the_limit() {
    let mut tenant = Tenant::plain();
    tenant.pending = 2;
    tenant.tick(0, &[]);
    tenant.pending = 1;
    tenant.tick(SECOND, &[(0, 0.0, "s")]);
    assert_eq!(tenant.cap(), 4, "two of four slots and nothing waiting");
    tenant.pending = 10;
    assert_eq!(tenant.tick(2 * SECOND, &[]), 1, "now it is the limit");
    tenant.tick(3 * SECOND, &[(SECOND, 0.0, "s")]);
    assert_eq!(tenant.cap(), 4, "admitted before it was");
    tenant.tick(4 * SECOND, &[(2 * SECOND, 0.0, "s")]);
    assert_eq!(tenant.cap(), 6);
}

#[test]
fn a_limit_that_another_gate_sets_is_no_evidence() {
    let policy = builder()
        .adaptive_concurrency(|a| a.initial_max(4.0).target_lag_ms(1_000.0))
        .concurrency(|c| c.max(2.0));
    let mut tenant = Tenant::of(policy.build().unwrap());
    assert_eq!(tenant.tick(0, &[]), 2);
    tenant.tick(SECOND, &[(0, 0.0, "s")]);
    assert_eq!(tenant.cap(), 4);
}

#[test]
fn a_decrease_needs_no_evidence_of_fullness() {
    let mut tenant = Tenant::plain();
    tenant.pending = 1;
    tenant.tick(0, &[]);
    tenant.tick(SECOND, &[(0, 5_000.0, "s")]);
    assert_eq!(tenant.cap(), 3);
}

#[test]
fn a_job_admitted_after_the_cap_was_last_the_limit_is_no_evidence() {
    let mut tenant = Tenant::plain();
    tenant.tick(0, &[]);
    tenant.in_flight = 0;
    assert_eq!(tenant.tick_taking(SECOND, &[], 1), 1, "the budget leaves it one of four");
    tenant.tick_taking(2 * SECOND, &[(SECOND, 0.0, "s")], 0);
    assert_eq!(tenant.cap(), 4);
    tenant.tick_taking(3 * SECOND, &[(0, 0.0, "s")], 0);
    assert_eq!(tenant.cap(), 6, "one that was admitted at the limit still is");
}

#[test]
fn a_job_admitted_between_two_backlogs_is_no_evidence() {
    let mut tenant = Tenant::plain();
    tenant.tick(0, &[]);
    (tenant.in_flight, tenant.pending) = (2, 1);
    assert_eq!(tenant.tick(SECOND, &[]), 1, "the last one that waits");
    tenant.pending = 10;
    assert_eq!(tenant.tick(2 * SECOND, &[]), 1, "full again");
    tenant.tick(3 * SECOND, &[(SECOND, 0.0, "s")]);
    assert_eq!(tenant.cap(), 4);
    tenant.tick(4 * SECOND, &[(2 * SECOND, 0.0, "s")]);
    assert_eq!(tenant.cap(), 6);
}
