//! Fairness among tenants that gates hold and tenants that they do not.

use fairgate_core::fairness::weighted::Cost;

use crate::measure::{Window, shares};
use crate::sim::{Dice, Gate, Length, Tenant, World};

/// Four in five tenants are held to less than their share.
fn tenants(count: usize, seed: u64, gate: impl Fn(usize) -> Gate) -> Vec<Tenant> {
    let mut dice = Dice::new(seed);
    let tenant = |at: usize| {
        let weight = dice.pick(&[1.0, 2.0, 3.0, 4.0]);
        let gate = if at.is_multiple_of(5) { Gate::Open } else { gate(at) };
        Tenant::new(weight).gate(gate).length(Length::Between(0.5, 1.5))
    };
    (0..count).map(tenant).collect()
}

/// What the open tenants got, beside their shares of what the others left.
fn open(world: &World, from: &[f64], to: &[f64]) -> Window {
    let open: Vec<usize> = (0..world.tenants.len()).step_by(5).collect();
    let got: Vec<f64> = open.iter().map(|&at| to[at] - from[at]).collect();
    let weights: Vec<f64> = open.iter().map(|&at| world.tenants[at].weight).collect();
    let fair = shares(&weights, got.iter().sum());
    Window { got, fair }
}

#[test]
fn open_tenants_share_what_four_in_five_throttled_ones_leave() {
    for seed in 0..6 {
        share_what_throttled_ones_leave(21 + 31 * seed, 5 + 17 * seed);
    }
}

fn share_what_throttled_ones_leave(weights: u64, rates: u64) {
    let mut dice = Dice::new(rates);
    let gates: Vec<f64> = (0..500).map(|_| 0.6 + 0.8 * dice.unit()).collect();
    let mut world = World::new(tenants(500, weights, |at| Gate::Rate { rate: gates[at], burst: 2.0 }));
    world.room.budget = Some(100);
    world.run_rounds(10);
    let mut from = world.admitted();
    let first = from.clone();
    for _ in 0..8 {
        let before = world.seconds();
        world.run_rounds(10);
        let to = world.admitted();
        let window = open(&world, &from, &to);
        let error = window.error(0.15);
        eprintln!("80% throttled: {error:.2} jobs past 15%, jain {:.5}", window.jain());
        assert!(error <= 3.0 && window.jain() >= 0.995, "{error} jobs, {}", window.jain());
        let seconds = world.seconds() - before;
        for at in (0..500).filter(|at| at % 5 > 0) {
            let (got, allowed) = (to[at] - from[at], gates[at] * seconds);
            assert!(got >= allowed * 0.85 - 3.0, "a throttled tenant got {got} of {allowed}");
        }
        from = to;
    }
    let window = open(&world, &first, &from);
    assert!(window.jain() >= 0.995);
}

#[test]
fn open_tenants_share_the_worker_time_that_four_in_five_capped_ones_leave() {
    let mut world = World::new(tenants(100, 21, |_| Gate::InFlight(1)));
    world.cost = Cost::Time;
    world.with_workers(200, 400);
    world.run_seconds(60.0);
    let mut from = world.worked();
    for _ in 0..3 {
        world.run_seconds(30.0);
        let to = world.worked();
        let window = open(&world, &from, &to);
        let error = window.error(0.15);
        eprintln!("80% capped: {error:.2} s past 15%, jain {:.5}", window.jain());
        assert!(error <= 3.0 * 1.5 && window.jain() >= 0.995, "{error} s");
        from = to;
    }
}
