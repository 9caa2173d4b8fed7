//! The cap finds the level of the queue behind and stays there: `workers * (1 + target lag / service time)`.

use std::collections::{BTreeMap, VecDeque};

use crate::adaptive::{Seen, Tenant};
use crate::support::{SECOND, builder};

const MILLISECOND: i64 = 1_000;
const TARGET_LAG: f64 = 1_000.0;
const TICK: i64 = 50 * MILLISECOND;

/// A first-in-first-out queue: each worker is known by the instant it is free.
struct Workers {
    free_at: Vec<i64>,
    queue: VecDeque<i64>,
    /// By the instant of the end.
    running: BTreeMap<i64, Vec<Seen>>,
}

impl Workers {
    fn new(workers: usize) -> Self {
        Self { free_at: vec![0; workers], queue: VecDeque::new(), running: BTreeMap::new() }
    }

    /// Starts what can start by `now`; `service` is spread by a tenth around itself.
    fn work(&mut self, now: i64, service: i64) {
        for worker in 0..self.free_at.len() {
            while self.free_at[worker] <= now {
                let Some(&admitted) = self.queue.front() else { break };
                self.queue.pop_front();
                let start = self.free_at[worker].max(admitted);
                let spread = (admitted / TICK * 7 + worker as i64 * 3) % 21 - 10;
                let end = start + service + service / 100 * spread;
                let lag = (start - admitted) as f64 / MILLISECOND as f64;
                self.running.entry(end).or_default().push((admitted, lag, "s"));
                self.free_at[worker] = end;
            }
        }
    }

    fn ended(&mut self, now: i64) -> Vec<Seen> {
        let later = self.running.split_off(&(now + 1));
        std::mem::replace(&mut self.running, later).into_values().flatten().collect()
    }
}

/// The caps of one phase, one a tick.
struct Phase {
    workers: f64,
    service: f64,
    initial: f64,
    caps: Vec<f64>,
}

impl Phase {
    fn level(&self) -> f64 {
        self.workers * (1.0 + TARGET_LAG / 1_000.0 / self.service)
    }

    /// Within a quarter of the level, and one job.
    fn is_inside(&self, cap: f64) -> bool {
        (cap - self.level()).abs() <= 0.25 * self.level() + 1.0
    }

    fn share_inside_over_the_last_half(&self) -> f64 {
        let half = &self.caps[self.caps.len() / 2..];
        half.iter().filter(|cap| self.is_inside(**cap)).count() as f64 / half.len() as f64
    }

    fn first_inside(&self) -> f64 {
        let ticks = self.caps.iter().position(|cap| self.is_inside(*cap));
        ticks.expect("inside at some time") as f64 * TICK as f64 / SECOND as f64
    }

    /// How long one step a generation takes to three quarters of the level.
    fn formula(&self) -> f64 {
        let distance = (0.75 * self.level()).powi(2) - self.initial.powi(2);
        self.service / self.workers / 2.0 * distance.max(0.0)
    }
}

/// Serves an endless backlog, one phase after the other, each of a service time in milliseconds and a length in seconds.
fn simulate(workers: usize, initial: f64, phases: &[(i64, i64)]) -> Vec<Phase> {
    let policy =
        builder().adaptive_concurrency(|a| a.initial_max(initial).target_lag_ms(TARGET_LAG)).build().unwrap();
    let mut tenant = Tenant::of(policy);
    let mut behind = Workers::new(workers);
    let (mut now, mut initial) = (0, initial);
    let mut done = Vec::new();
    for &(service, seconds) in phases {
        let mut caps = Vec::new();
        let end = now + seconds * SECOND;
        while now < end {
            behind.work(now, service * MILLISECOND);
            let seen = behind.ended(now);
            tenant.in_flight -= seen.len() as i64;
            tenant.pending = 100_000;
            let taken = tenant.tick(now, &seen);
            behind.queue.extend((0..taken).map(|_| now));
            caps.push(tenant.cap() as f64);
            now += TICK;
        }
        let last = *caps.last().unwrap();
        done.push(Phase { workers: workers as f64, service: service as f64 / 1_000.0, initial, caps });
        initial = last;
    }
    done
}

fn hold(phase: &Phase, what: &str) {
    let inside = phase.share_inside_over_the_last_half();
    assert!(inside >= 0.95, "{what}: {inside} inside around {}", phase.level());
    let (first, within) = (phase.first_inside(), 1.5 * phase.formula() + 5.0);
    assert!(first <= within, "{what}: first inside after {first} s, not {within} s");
}

#[test]
fn the_cap_settles_at_the_level_of_the_queue_and_stays() {
    for (workers, service) in [(1, 200), (2, 1_000), (5, 500), (10, 100), (10, 1_000), (20, 2_000), (50, 250)]
    {
        let phase = simulate(workers, 3.0, &[(service, 600)]).remove(0);
        hold(&phase, &format!("{workers} workers of {service} ms"));
    }
}

#[test]
fn a_cap_that_begins_far_above_the_level_comes_down_to_it() {
    let phase = simulate(4, 60.0, &[(500, 600)]).remove(0);
    assert!(phase.share_inside_over_the_last_half() >= 0.95, "{}", phase.share_inside_over_the_last_half());
}

#[test]
fn the_cap_follows_a_queue_that_slows_tenfold_and_grows_back_when_it_recovers() {
    for (workers, service) in [(10, 1_000), (4, 300)] {
        let phases = simulate(workers, 3.0, &[(service, 600), (10 * service, 2_400), (service, 600)]);
        hold(&phases[0], "before");
        let slow = phases[1].share_inside_over_the_last_half();
        assert!(slow >= 0.95, "slow: {slow} inside around {}", phases[1].level());
        hold(&phases[2], "recovered");
        let (slow, recovered) = (phases[1].caps.last().unwrap(), phases[2].caps.last().unwrap());
        assert!(recovered > slow, "{recovered} after {slow}");
    }
}

#[test]
fn jobs_that_all_fail_bring_the_cap_to_min() {
    let mut tenant = Tenant::plain();
    for second in 0..20 {
        tenant.tick(second * SECOND, &[(second * SECOND - SECOND, 0.0, "f")]);
    }
    assert_eq!(tenant.cap(), 1);
}
