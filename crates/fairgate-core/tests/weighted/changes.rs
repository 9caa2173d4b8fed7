//! Weights that change, tenants that come, go and come back.

use fairgate_core::fairness::weighted::LaneState;

use crate::sim::{Length, Rule, Tenant, World};

fn equal(count: usize) -> Vec<Tenant> {
    (0..count).map(|_| Tenant::new(1.0).length(Length::Between(0.5, 1.5))).collect()
}

#[test]
fn a_weight_that_falls_acts_on_the_backlog_at_once() {
    for count in [10, 100, 500] {
        let mut world = World::new(equal(count));
        world.run_ticks(12 * count.div_ceil(50));
        world.tenants[0].weight = 0.01;
        // What was claimed before the change.
        world.run_ticks(1);
        let from = world.tenants[0].admitted;
        world.run_ticks(20 * count.div_ceil(50));
        let got = (world.tenants[0].admitted - from) as f64;
        let fair = 0.01 * 200.0 * 20.0 * count.div_ceil(50) as f64 / count as f64;
        eprintln!("{count}: excess {:.2}", got - fair);
        assert!(got - fair <= 2.0, "{count} tenants: {got} jobs, its share is {fair}");
    }
}

/// The longest that a partition waits for its look in [`company`], in fair rounds: 4 claims, each of which waits 0.4 s for
/// room, in 10 s.
const A_ROUND_OF_LOOKS: f64 = 0.16;

/// A tenant that was alone for 300 ticks with so many jobs a tick, then has company: its share from then on, and when it
/// got its first job, in fair rounds.
pub(crate) fn company(rule: Rule, jobs: u64) -> (f64, f64) {
    let (others, workers) = (199, 20);
    let mut tenants = vec![Tenant::new(1.0).length(Length::Between(0.5, 1.5)).waiting(jobs)];
    tenants.extend(equal(others).into_iter().map(|tenant| tenant.waiting(0)));
    let mut world = World::new(tenants);
    world.rule = rule;
    world.with_workers(workers, 60);
    for _ in 0..300 {
        world.run_ticks(1);
        world.add_jobs(0, jobs);
    }
    for at in 0..=others {
        world.add_jobs(at, 1 << 40);
    }
    // What was claimed before they came.
    world.run_ticks(1);
    let fair_round = (others + 1) as f64 / workers as f64;
    let (start, before) = (world.seconds(), world.admitted());
    let mut first = f64::INFINITY;
    for _ in 0..30 * fair_round as usize {
        world.run_seconds(1.0);
        if first.is_infinite() && world.tenants[0].admitted as f64 > before[0] {
            first = world.tenants[0].served_at - start;
        }
    }
    let after = world.admitted();
    let total: f64 = after.iter().sum::<f64>() - before.iter().sum::<f64>();
    let share = (after[0] - before[0]) / (total / (others + 1) as f64);
    (share, first / fair_round)
}

#[test]
fn a_tenant_that_was_alone_is_not_made_to_pay_for_it() {
    // All that the workers can do, and half of it.
    for jobs in [100, 1] {
        let (share, first) = company(Rule::Whole, jobs);
        eprintln!(
            "company after {jobs} jobs a tick: share {share:.3}, first job after {first:.2} fair rounds"
        );
        // The newcomers' first jobs fill a fair round; its own comes at its next look.
        assert!(
            share >= 0.95 && first <= 1.0 + A_ROUND_OF_LOOKS,
            "share {share}, first job after {first} fair rounds"
        );
    }
}

/// The part of the budget that is used after the lane's row was lost, from the third round on.
pub(crate) fn lost_lane(rule: Rule) -> f64 {
    let mut world = World::new(equal(100));
    world.run_rounds(200);
    world.rule = rule;
    world.lane = LaneState::default();
    world.run_ticks(4);
    let before: f64 = world.admitted().iter().sum();
    world.run_ticks(60);
    (world.admitted().iter().sum::<f64>() - before) / (60.0 * 200.0)
}

#[test]
fn a_lane_whose_row_is_lost_goes_on_after_two_rounds() {
    let used = lost_lane(Rule::Whole);
    assert!(used >= 0.93, "{used} of the budget");
}

/// What a tenant that idled for `ticks` got past the mean, past 5%, in the `window` ticks after.
pub(crate) fn back_from_idling(rule: Rule, ticks: usize, window: usize) -> f64 {
    let mut tenants = equal(100);
    tenants[0].waiting = 20;
    let mut world = World::new(tenants);
    world.rule = rule;
    world.run_ticks(ticks);
    assert_eq!(world.tenants[0].waiting, 0);
    world.add_jobs(0, 1 << 40);
    let before = world.admitted();
    world.run_ticks(window);
    let got: Vec<f64> = world.admitted().iter().zip(before).map(|(to, from)| to - from).collect();
    let mean = got[1..].iter().sum::<f64>() / 99.0;
    got[0] - mean * 1.05
}

#[test]
fn a_tenant_that_idled_comes_back_without_a_hoard() {
    for window in [2, 6, 20, 60] {
        let excess = back_from_idling(Rule::Whole, 400, window);
        eprintln!("idling, window {window}: {excess:.2} jobs past the mean + 5%");
        assert!(excess <= 2.0, "{excess} jobs in {window} ticks");
    }
}

#[test]
fn a_sparse_tenant_is_admitted_within_half_a_fair_round() {
    let mut tenants = equal(500);
    tenants.push(Tenant::new(1.0).waiting(0));
    let mut world = World::new(tenants);
    world.with_workers(20, 60);
    world.run_seconds(60.0);
    let mut worst: f64 = 0.0;
    for _ in 0..8 {
        let arrived = world.seconds();
        world.add_jobs(500, 1);
        world.run_seconds(37.3);
        assert_eq!(world.tenants[500].waiting, 0);
        worst = worst.max(world.tenants[500].served_at - arrived);
    }
    eprintln!("sparse: {worst:.1} s of {:.1}", 501.0 / 20.0 / 2.0);
    assert!(worst <= 501.0 / 20.0 / 2.0, "{worst} s");
}
