//! The letter of the rule (`every_job`), and the knobs that are refused.

use std::time::Duration;

use crate::adaptive::Tenant;
use crate::support::{SECOND, builder};

#[test]
fn every_job_adds_one_takes_a_twentieth_or_halves() {
    let mut tenant = Tenant::every_job(20.0);
    tenant.pending = 0;
    let mut after = |lag: f64, outcome| {
        tenant.tick(0, &[(0, lag, outcome)]);
        tenant.cap()
    };
    assert_eq!(after(1_000.0, "s"), 21, "at the target, and not full");
    assert_eq!(after(1_000.0, "s"), 22);
    assert_eq!(after(1_002.0, "s"), 20, "22 * 0.95 = 20.9; the average is 1001");
    assert_eq!(after(0.0, "f"), 10);
    assert_eq!(after(1_000.0, "s"), 9, "a failed job's lag is not averaged: 1000.5");
    assert_eq!(after(999.0, "s"), 10, "the average is 999.75");
}

#[test]
fn every_job_counts_all_observations_of_a_tick_in_the_order_of_starts() {
    let mut tenant = Tenant::every_job(20.0);
    let jobs = [(0, 10.0, "s"), (0, 30.0, "s"), (0, 20.0, "f"), (-SECOND, 0.0, "s"), (0, 9.0, "i")];
    tenant.tick(0, &jobs);
    assert_eq!(tenant.cap(), 12, "21, 22, 11, 12");
}

#[test]
fn every_job_never_goes_below_min() {
    let mut tenant = Tenant::every_job(2.0);
    for _ in 0..5 {
        tenant.tick(0, &[(0, 0.0, "f")]);
    }
    assert_eq!(tenant.cap(), 1);
}

#[test]
fn a_factor_of_whole_results_is_not_rounded_away() {
    let policy = builder().adaptive_concurrency(|a| {
        a.initial_max(100.0).target_lag_ms(1.0).failure_decrease_factor(0.29).every_job(true)
    });
    let mut tenant = Tenant::of(policy.build().unwrap());
    tenant.tick(0, &[(0, 0.0, "f")]);
    assert_eq!(tenant.cap(), 29, "0.29 * 100.0 is 28.999999999999996");
}

#[test]
fn knobs_out_of_range_are_refused_all_at_once() {
    let problems = builder()
        .adaptive_concurrency(|a| {
            a.initial_max(0.5)
                .target_lag_ms_from("lag", 0.0)
                .min(f64::NAN)
                .max(1e13)
                .ewma_alpha(0.0)
                .failure_decrease_factor(1.0)
                .overload_decrease_factor(f64::NAN)
                .full_backoff(Duration::ZERO)
        })
        .adaptive_concurrency(|a| a.named("b").ewma_alpha(1.5).failure_decrease_factor(-0.5))
        .adaptive_concurrency(|a| a.named("c").initial_max(2.0).target_lag_ms(1.0).min(3.0).max(2.5))
        .adaptive_concurrency(|a| a.named("d").initial_max(9.0).target_lag_ms(1.0).max(8.0))
        .build()
        .unwrap_err();
    assert_eq!(
        problems.to_string(),
        "\
gates.adaptive_concurrency.initial_max: 0.5 is too small; the least is 1
gates.adaptive_concurrency.target_lag_ms.default: 0 is too small; the least is 1
gates.adaptive_concurrency.min: NaN is not a finite number
gates.adaptive_concurrency.max: 10000000000000 is too large; the most is 1e12
gates.adaptive_concurrency.ewma_alpha: 0 is out of range; give a number above 0 and at most 1
gates.adaptive_concurrency.failure_decrease_factor: 1 is out of range; give a number above 0 and below 1
gates.adaptive_concurrency.overload_decrease_factor: NaN is out of range; give a number above 0 and below 1
gates.adaptive_concurrency.full_backoff: 0s is too short; the shortest is 1ms
gates.b.initial_max: it is missing; set it, for example initial_max = 3
gates.b.target_lag_ms: it is missing; set it, for example target_lag_ms = 1000
gates.b.ewma_alpha: 1.5 is out of range; give a number above 0 and at most 1
gates.b.failure_decrease_factor: -0.5 is out of range; give a number above 0 and below 1
gates.c.initial_max: 2 is less than the `min` of 3
gates.c.max: 2.5 is less than the `min` of 3
gates.d.initial_max: 9 is more than the `max` of 8"
    );
}

#[test]
fn the_edges_of_the_ranges_are_taken() {
    let policy = builder().adaptive_concurrency(|a| {
        a.initial_max(1.0).target_lag_ms(1.0).min(1.0).max(1.0).ewma_alpha(1.0).failure_decrease_factor(0.001)
    });
    policy.build().unwrap();
}
