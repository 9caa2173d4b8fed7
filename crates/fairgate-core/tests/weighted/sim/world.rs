//! Everything of a simulated lane, and what a test sets.

use std::collections::BTreeSet;

use fairgate_core::fairness::weighted::{Cost, LaneAdvance, LaneState, Offers, Room};

use super::workers::{Event, Workers};
use super::{Dice, Tenant};

/// The rule, whole or with a part missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    Whole,
    /// Every weight is 1.
    WithoutWeights,
    /// A new round never catches up with the least served.
    WithoutCatchingUp,
    /// What was taken when nobody else wanted it counts.
    WithDebtForIdleTimes,
    /// Partitions never count as empty, and may be any time behind.
    WithHoard,
    /// Claims go by virtual start instead of by due time.
    ClaimedByStart,
    /// Estimates are never corrected.
    WithoutCorrections,
}

#[derive(Debug, Clone)]
pub(super) struct Ticker {
    pub(super) held: Option<(Vec<usize>, Offers)>,
    pub(super) carried: LaneAdvance,
}

pub(crate) struct World {
    pub(crate) rule: Rule,
    pub(crate) cost: Cost,
    pub(crate) batch: usize,
    pub(crate) room: Room,
    /// Jobs in the queue at which admission stops.
    pub(crate) max_waiting: Option<usize>,
    /// Microseconds between two ticks of the lane, whoever runs them.
    pub(crate) every: i64,
    /// The part of ticks that get hold of the lane's row.
    pub(crate) lane_hits: f64,
    pub(crate) tenants: Vec<Tenant>,
    pub(crate) lane: LaneState,
    pub(crate) now: i64,
    pub(crate) ticks: u64,
    /// The longest that a due partition waited for its look, in ticks.
    pub(crate) longest_wait: u64,
    pub(crate) workers: Option<Workers>,
    pub(super) due: BTreeSet<(i64, usize)>,
    pub(super) tickers: Vec<Ticker>,
    pub(super) dice: Dice,
}

impl World {
    /// One ticker, batches of 50, a budget of 200 a tick, a tick every 0.1 s, no workers: an admitted job is gone.
    pub(crate) fn new(tenants: Vec<Tenant>) -> Self {
        let mut world = Self {
            rule: Rule::Whole,
            cost: Cost::Jobs,
            batch: 50,
            room: Room { budget: Some(200), queue: None, admission_batch_size: 100 },
            max_waiting: None,
            every: 100_000,
            lane_hits: 1.0,
            tenants,
            lane: LaneState::default(),
            now: 1_000_000,
            ticks: 0,
            longest_wait: 0,
            workers: None,
            due: BTreeSet::new(),
            tickers: Vec::new(),
            dice: Dice::new(7),
        };
        world.tickers(1);
        for at in 0..world.tenants.len() {
            world.arm(at);
        }
        world
    }

    pub(crate) fn tickers(&mut self, count: usize) {
        self.tickers = vec![Ticker { held: None, carried: LaneAdvance::default() }; count];
    }

    /// Back-pressure instead of a budget.
    pub(crate) fn with_workers(&mut self, workers: usize, max_waiting: usize) {
        self.room.budget = None;
        self.workers = Some(Workers::new(workers));
        self.max_waiting = Some(max_waiting);
    }

    /// Gives a tenant more work.
    pub(crate) fn add_jobs(&mut self, at: usize, jobs: u64) {
        let was_idle = self.tenants[at].waiting == 0;
        self.tenants[at].waiting += jobs;
        if was_idle {
            self.tenants[at].due = None;
            self.arm(at);
        }
    }

    /// Makes a tenant with work due, from its due time on.
    pub(super) fn arm(&mut self, at: usize) {
        let tenant = &mut self.tenants[at];
        if tenant.waiting > 0 {
            tenant.due_since = self.ticks;
            self.due.insert((tenant.due.unwrap_or(i64::MIN), at));
        }
    }

    /// Brings a tenant's look forward to `now`.
    fn wake(&mut self, at: usize, now: i64) {
        let due = self.tenants[at].due.unwrap_or(i64::MIN);
        if due > now && self.due.remove(&(due, at)) {
            self.tenants[at].due = Some(now);
            self.arm(at);
        }
    }

    pub(crate) fn run_ticks(&mut self, ticks: usize) {
        for _ in 0..ticks {
            self.now += self.every;
            self.work();
            self.tick();
        }
    }

    pub(crate) fn run_rounds(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let round = self.lane.round_no;
            while self.lane.round_no == round {
                self.run_ticks(1);
            }
        }
    }

    pub(crate) fn run_seconds(&mut self, seconds: f64) {
        self.run_ticks((seconds * 1e6 / self.every as f64) as usize);
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.now as f64 / 1e6
    }

    /// Lets the workers work until now.
    fn work(&mut self) {
        let Some(mut workers) = self.workers.take() else { return };
        let mut at = self.now - self.every;
        while let Some((when, event)) = workers.next(at, self.now) {
            at = when;
            match event {
                Event::Started(job) => {
                    let tenant = &mut self.tenants[job.tenant];
                    tenant.running += 1;
                    tenant.worked -= when as f64 / 1e6;
                }
                Event::Finished(job) => {
                    let tenant = &mut self.tenants[job.tenant];
                    tenant.running -= 1;
                    tenant.worked += when as f64 / 1e6;
                    tenant.in_flight -= 1;
                    tenant.correction += job.seconds - job.charged;
                    tenant.finished.jobs += 1;
                    tenant.finished.seconds += job.seconds;
                    self.wake(job.tenant, when);
                }
            }
        }
        self.workers = Some(workers);
    }

    pub(crate) fn worked(&self) -> Vec<f64> {
        let now = self.seconds();
        self.tenants.iter().map(|tenant| tenant.worked(now)).collect()
    }

    pub(crate) fn admitted(&self) -> Vec<f64> {
        self.tenants.iter().map(|tenant| tenant.admitted as f64).collect()
    }

    pub(crate) fn longest_jobs(&self) -> Vec<f64> {
        self.tenants.iter().map(|tenant| tenant.length.longest()).collect()
    }

    pub(crate) fn weights(&self) -> Vec<f64> {
        self.tenants.iter().map(|tenant| tenant.weight).collect()
    }
}
