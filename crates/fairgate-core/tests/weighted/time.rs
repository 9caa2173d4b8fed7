//! Shares of worker time behind a queue with back-pressure.

use fairgate_core::fairness::weighted::Cost;

use crate::measure::{sample, whole, windows};
use crate::sim::{Dice, Length, Rule, Tenant, World};

const SHORT: Length = Length::Between(0.5, 1.5);

fn mixed(count: usize, lengths: &[Length]) -> Vec<Tenant> {
    let mut dice = Dice::new(11);
    let tenant = |_| Tenant::new(dice.pick(&[1.0, 2.0, 4.0])).length(dice.pick(lengths));
    (0..count).map(tenant).collect()
}

/// Errors past 5% in windows of 10 rounds, in the longest job of each tenant; Jain's index of all; the part of the time
/// that workers were busy.
fn time(count: usize, workers: usize, lengths: &[Length], round: f64) -> (f64, f64, f64) {
    let mut world = World::new(mixed(count, lengths));
    world.cost = Cost::Time;
    world.with_workers(workers, 3 * workers);
    world.run_seconds(6.0 * round);
    let ticks = (round * 10.0) as usize;
    let samples = sample(&mut world, ticks, 24, World::worked, World::run_ticks);
    let (weights, longest) = (world.weights(), world.longest_jobs());
    let windows = windows(&samples, &weights, 10);
    let error = windows.iter().map(|window| window.error_in(&longest, 0.05)).fold(f64::MIN, f64::max);
    let whole = whole(&samples, &weights);
    let busy = whole.got.iter().sum::<f64>() / (24.0 * ticks as f64 / 10.0 * workers as f64);
    (error, whole.jain(), busy)
}

fn hold(name: &str, (error, jain, busy): (f64, f64, f64), least_jain: f64) {
    eprintln!("{name}: {error:.2} longest jobs, jain {jain:.5}, workers {busy:.3} busy");
    assert!(error <= 2.0, "{name}: {error} longest jobs");
    assert!(jain >= least_jain, "{name}: {jain}");
    assert!(busy >= 0.98, "{name}: workers are busy for {busy} of the time");
}

#[test]
fn shares_of_worker_time_follow_the_weights() {
    let lengths = [SHORT, Length::Between(1.0, 3.0)];
    for (count, workers) in [(10, 20), (100, 40), (400, 160)] {
        hold(&format!("{count} tenants"), time(count, workers, &lengths, 8.0), 0.995);
    }
}

#[test]
fn thirty_second_jobs_among_one_second_ones_take_their_share_of_worker_time() {
    let lengths = [SHORT, SHORT, SHORT, Length::Between(25.0, 35.0)];
    for (count, workers) in [(10, 20), (100, 100)] {
        hold(&format!("{count} tenants, a quarter long"), time(count, workers, &lengths, 60.0), 0.995);
    }
}

#[test]
fn a_heavy_tail_of_job_lengths_takes_its_share_of_worker_time() {
    let lengths = [Length::HeavyTail { shape: 1.5, least: 0.3, most: 60.0 }];
    for (count, workers) in [(10, 20), (100, 80)] {
        hold(&format!("{count} tenants, heavy tail"), time(count, workers, &lengths, 30.0), 0.97);
    }
}

/// The share of worker time, in fair shares, that a tenant with jobs of 30 s gets in the 300 s after it came to 50 with
/// jobs of 1 s.
pub(crate) fn unknown(rule: Rule, alone: f64) -> f64 {
    let mut tenants: Vec<Tenant> = (0..50).map(|_| Tenant::new(1.0).length(SHORT)).collect();
    tenants.push(Tenant::new(1.0).length(Length::Fixed(30.0)).waiting(0));
    let mut world = World::new(tenants);
    world.rule = rule;
    world.cost = Cost::Time;
    world.with_workers(20, 60);
    world.run_seconds(alone);
    world.add_jobs(50, 1 << 40);
    let before = world.worked();
    world.run_seconds(300.0);
    let after = world.worked();
    let total = after.iter().sum::<f64>() - before.iter().sum::<f64>();
    (after[50] - before[50]) * 51.0 / total
}

#[test]
fn a_tenant_whose_long_jobs_nobody_knows_yet_takes_about_its_share() {
    for alone in [0.0, 60.0] {
        let share = unknown(Rule::Whole, alone);
        eprintln!("unknown 30 s tenant: {share:.2} of its share");
        assert!((0.6..=1.3).contains(&share), "{share} of its share");
    }
}
