//! Shares of jobs, under a budget and behind a queue with back-pressure.

use crate::measure::{sample, whole, windows, worst};
use crate::sim::{Dice, Length, Rule, Tenant, World};

pub(crate) fn mixed(count: usize, seed: u64) -> Vec<Tenant> {
    let mut dice = Dice::new(seed);
    let tenant = |_| Tenant::new(dice.pick(&[1.0, 2.0, 3.0, 4.0])).length(Length::Between(0.5, 1.5));
    (0..count).map(tenant).collect()
}

/// The largest errors past 10% in windows of 1 and 3 rounds and past 5% in windows of 10, in jobs; Jain's index of all.
struct Fairness {
    one: f64,
    three: f64,
    ten: f64,
    jain: f64,
}

impl Fairness {
    fn of(world: &mut World, rounds: usize, count: usize) -> Self {
        let samples = sample(world, rounds, count, World::admitted, World::run_rounds);
        let weights = world.weights();
        let worst = |length, part| worst(&windows(&samples, &weights, length), part);
        Self {
            one: worst(1, 0.10),
            three: worst(3, 0.10),
            ten: worst(10, 0.05),
            jain: whole(&samples, &weights).jain(),
        }
    }

    fn hold(&self, name: &str) {
        let Self { one, three, ten, jain } = self;
        eprintln!("{name}: {one:.2} {three:.2} {ten:.2} jobs, jain {jain:.5}");
        assert!(*one <= 2.0 && *three <= 2.0 && *ten <= 2.0, "{name}: {one} {three} {ten} jobs");
        assert!(*jain >= 0.999, "{name}: {jain}");
    }
}

#[test]
fn shares_of_a_budget_follow_the_weights_over_a_round_and_more() {
    let lanes = [(10, 20, 100), (50, 200, 30), (60, 200, 30), (100, 200, 30), (500, 200, 30), (500, 60, 30)];
    for ((count, budget, rounds), seed) in
        lanes.into_iter().flat_map(|lane| (0..6).map(move |seed| (lane, seed)))
    {
        let mut world = World::new(mixed(count, seed));
        let fair = fair_use(&world);
        world.room.budget = Some(budget);
        world.run_rounds(10);
        let (ticks, jobs) = (world.ticks, world.admitted().iter().sum::<f64>());
        Fairness::of(&mut world, 1, rounds).hold(&format!("{count} tenants, budget {budget}"));
        let jobs = world.admitted().iter().sum::<f64>() - jobs;
        let used = jobs / ((world.ticks - ticks) as f64 * f64::from(budget));
        eprintln!("   {used:.3} of the budget used, {fair:.3} at most");
        assert!(used >= f64::min(0.93, 0.99 * fair), "{count} tenants: {used} of the budget used");
    }
}

/// The part of a hard budget that can be used where everybody gets their share: the heaviest batch takes its budget whole,
/// the others less by their weights. Batches stay together as long as all of them are looked at in turn.
fn fair_use(world: &World) -> f64 {
    let weights = world.weights();
    let batches: Vec<f64> = weights.chunks(world.batch).map(|batch| batch.iter().sum()).collect();
    if !weights.len().is_multiple_of(world.batch) {
        return 1.0;
    }
    batches.iter().sum::<f64>() / batches.len() as f64 / batches.iter().copied().fold(0.0, f64::max)
}

#[test]
fn tenants_whose_weights_happen_to_be_claimed_together_keep_their_shares_of_a_hard_budget() {
    let (mut error, mut jain): (f64, f64) = (0.0, 1.0);
    for (seed, tickers) in (0..12).flat_map(|seed| [(seed, 1), (seed, 4)]) {
        // Half of weight 1, half of weight 4, in batches of five: some of them take twice what others do.
        let mut tenants: Vec<Tenant> = (0..40).map(|at| Tenant::new([1.0, 4.0][at % 2])).collect();
        let mut dice = Dice::new(seed);
        tenants.sort_by_cached_key(|_| (dice.unit() * 1e9) as u64);
        let mut world = World::new(tenants);
        world.batch = 5;
        world.room.budget = Some(30);
        world.tickers(tickers);
        let fair = fair_use(&world);
        world.run_ticks(80);
        let samples = sample(&mut world, 8, 60, World::admitted, World::run_ticks);
        let weights = world.weights();
        let whole = whole(&samples, &weights);
        jain = jain.min(whole.jain());
        for rounds in [2, 10] {
            error = error.max(worst(&windows(&samples, &weights, rounds), 0.10));
        }
        let used = whole.got.iter().sum::<f64>() / (60.0 * 8.0 * 30.0);
        assert!(used >= 0.97 * fair, "seed {seed}: {used} of the budget used, {fair} could be");
    }
    eprintln!("weights side by side: {error:.2} jobs, jain {jain:.5}");
    assert!(error <= 4.0 && jain >= 0.999, "{error} jobs, {jain}");
}

#[test]
fn shares_of_a_queues_room_follow_the_weights_and_workers_stay_busy() {
    for (count, workers) in [(10, 20), (100, 40), (500, 100)] {
        behind_a_queue(count, workers);
    }
}

#[test]
fn five_thousand_tenants_share_a_queues_room_by_weight_and_workers_stay_busy() {
    behind_a_queue(5000, 200);
}

fn behind_a_queue(count: usize, workers: usize) {
    let mut world = World::new(mixed(count, 3));
    world.with_workers(workers, 3 * workers);
    // The lightest has a job of its own in a round of 2.5 jobs each, on average.
    let own = (count * 25).div_ceil(workers);
    let rounds = own.div_ceil(count.div_ceil(50));
    world.run_rounds(10 * rounds);
    let (start, busy) = (world.seconds(), world.worked().iter().sum::<f64>());
    Fairness::of(&mut world, rounds, 13).hold(&format!("{count} tenants, {workers} workers"));
    let busy = world.worked().iter().sum::<f64>() - busy;
    let used = busy / ((world.seconds() - start) * workers as f64);
    eprintln!("   workers {used:.3} busy");
    assert!(used >= 0.98, "{count} tenants: workers are busy for {used} of the time");
}

/// The largest error past 10% in two rounds of 500 tenants under four tickers, and Jain's index.
pub(crate) fn four_tickers(rule: Rule, lane_hits: f64) -> (f64, f64) {
    let mut world = World::new(mixed(500, 5));
    world.rule = rule;
    world.tickers(4);
    world.lane_hits = lane_hits;
    world.run_ticks(100);
    let samples = sample(&mut world, 10, 40, World::admitted, World::run_ticks);
    let weights = world.weights();
    (worst(&windows(&samples, &weights, 2), 0.10), whole(&samples, &weights).jain())
}

#[test]
fn four_tickers_with_old_virtual_times_keep_the_shares() {
    for lane_hits in [1.0, 0.9, 0.75] {
        let (error, jain) = four_tickers(Rule::Whole, lane_hits);
        eprintln!("4 tickers, the lane's row had {lane_hits}: {error:.2} jobs, jain {jain:.5}");
        assert!(error <= 4.0 && jain >= 0.999, "{error} jobs, {jain}");
    }
}

/// The longest wait of a due partition for its look, and the bound, in ticks.
pub(crate) fn looks(rule: Rule, count: usize) -> (u64, u64) {
    let mut world = World::new(mixed(count, 9));
    world.rule = rule;
    world.run_ticks(12 * count.div_ceil(50));
    (world.longest_wait, count.div_ceil(50) as u64)
}

#[test]
fn every_due_partition_is_looked_at_within_its_round() {
    for count in [10, 50, 51, 60, 499, 500, 1234] {
        let (wait, bound) = looks(Rule::Whole, count);
        assert!(wait <= bound, "{count} tenants: {wait} ticks, the bound is {bound}");
    }
}
