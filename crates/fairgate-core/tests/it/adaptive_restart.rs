//! What a rest does to the cap.

use fairgate_core::{GateStates, at_rest};

use crate::adaptive::Tenant;
use crate::support::{SECOND, at};

/// A tenant whose cap fell to 1 while 4 was the beginning, with one job in flight.
fn fallen() -> Tenant {
    let mut tenant = Tenant::plain();
    tenant.tick(0, &[]);
    for second in 1..=2 {
        tenant.tick(second * SECOND, &[(second * SECOND - SECOND, 9_000.0, "f")]);
    }
    assert_eq!(tenant.cap(), 1);
    tenant.in_flight = 1;
    tenant
}

#[test]
fn a_partition_that_idled_at_min_starts_again_from_initial_max() {
    let mut tenant = fallen();
    (tenant.in_flight, tenant.pending) = (0, 0);
    tenant.tick(3 * SECOND, &[(2 * SECOND, 9_000.0, "f")]);
    tenant.pending = 100;
    assert_eq!(tenant.tick_taking(60 * SECOND, &[], 1), 1);
    assert_eq!(tenant.cap(), 4);
    assert_eq!(tenant.plan(61 * SECOND, &[]).looks[0].take, 3, "the start outlasts the first look");
    tenant.tick(61 * SECOND, &[(60 * SECOND, 800.0, "s")]);
    assert_eq!(tenant.state()["ewma"], 800.0, "the lags of before the rest are forgotten");
    tenant.tick(62 * SECOND, &[(61 * SECOND, 800.0, "s")]);
    assert_eq!(tenant.cap(), 6, "and it grows by half again");
}

#[test]
fn jobs_of_before_the_rest_do_not_move_the_new_cap() {
    let mut tenant = fallen();
    tenant.pending = 0;
    tenant.tick(3 * SECOND, &[]);
    (tenant.in_flight, tenant.pending) = (0, 100);
    tenant.tick(60 * SECOND, &[(2 * SECOND, 9_000.0, "f")]);
    assert_eq!(tenant.cap(), 4);
    tenant.tick(61 * SECOND, &[(2 * SECOND, 9_000.0, "f")]);
    assert_eq!(tenant.cap(), 4);
}

#[test]
fn with_nothing_in_flight_the_cap_counts_as_initial_max_without_forgetting_a_backlog() {
    let mut tenant = fallen();
    assert_eq!(tenant.plan(3 * SECOND, &[]).looks[0].take, 0);
    tenant.in_flight = 0;
    let look = &tenant.plan(3 * SECOND, &[]).looks[0];
    assert_eq!((look.take, look.limits.as_str()), (4, r#"{"adaptive_concurrency":4}"#));
    tenant.tick(3 * SECOND, &[]);
    assert_eq!(tenant.cap(), 1, "jobs waited all the while, so what was learnt holds");
    let mut letter = Tenant::every_job(4.0);
    for _ in 0..3 {
        letter.tick(0, &[(0, 0.0, "f")]);
    }
    letter.in_flight = 0;
    assert_eq!((letter.cap(), letter.tick(SECOND, &[])), (1, 4));
}

#[test]
fn a_cap_that_grew_is_kept_through_a_rest() {
    let mut tenant = Tenant::plain();
    tenant.tick(0, &[]);
    tenant.tick(SECOND, &[(0, 0.0, "s")]);
    (tenant.in_flight, tenant.pending) = (0, 0);
    tenant.tick(2 * SECOND, &[]);
    tenant.pending = 100;
    assert_eq!(tenant.tick(3 * SECOND, &[]), 6);
}

#[test]
fn forgetting_a_cap_loses_nothing_that_a_rest_would_keep() {
    let tenant = fallen();
    let states = GateStates::parse(tenant.gates.as_deref());
    assert!(at_rest(&tenant.policy, &states, at(SECOND)) && states.at_rest(at(SECOND)));
}

#[test]
fn a_state_that_cannot_be_read_is_a_new_one() {
    for gates in [r#"{"adaptive_concurrency":{"cap":-1}}"#, r#"{"adaptive_concurrency":7}"#, "?"] {
        let mut tenant = Tenant::plain();
        tenant.gates = Some(gates.to_owned());
        assert_eq!(tenant.tick(0, &[]), 4, "{gates}");
    }
}
