//! One tick: a ticker commits what it claimed at its turn before, moves the lane, and claims again.

use fairgate_core::fairness::weighted::{Entrant, LaneTotals, Room, Samples, offers};

use super::workers::Job;
use super::{Rule, World};

impl World {
    pub(super) fn tick(&mut self) {
        let turn = self.ticks as usize % self.tickers.len();
        self.commit(turn);
        self.advance(turn);
        self.ticks += 1;
        self.claim(turn);
    }

    fn claim(&mut self, turn: usize) {
        let queue = self.max_waiting.map(|most| {
            let waiting = self.workers.as_ref().map_or(0, |workers| workers.queue.len());
            most.saturating_sub(waiting) as u32
        });
        if queue
            .is_some_and(|room| (room as usize) < self.batch.min(self.max_waiting.unwrap_or(0).div_ceil(8)))
        {
            return;
        }
        let claimed = self.pick();
        let totals = self.lane.wants_totals(claimed.len(), self.batch).then(|| self.totals(&claimed));
        let entrants: Vec<Entrant> = claimed.iter().map(|&at| self.entrant(at)).collect();
        let mut lane = self.lane.clone();
        if self.rule == Rule::WithoutCatchingUp {
            lane.acc_min = None;
        }
        if self.rule == Rule::WithDebtForIdleTimes {
            lane.acc.n = lane.acc.n.max(1);
        }
        if self.rule == Rule::WithHoard {
            lane.pace = 1e12;
        }
        let room = Room { queue, ..self.room };
        let offers = offers(self.cost, &lane, totals, &entrants, &room);
        self.tickers[turn].held = Some((claimed, offers));
    }

    fn pick(&mut self) -> Vec<usize> {
        let mut due: Vec<(i64, usize)> = self.due.range(..=(self.now, usize::MAX)).copied().collect();
        if self.rule == Rule::ClaimedByStart {
            due.sort_by_key(|&(_, at)| self.tenants[at].state.s);
        }
        due.truncate(self.batch);
        for &(due, at) in &due {
            self.due.remove(&(due, at));
            self.longest_wait = self.longest_wait.max(self.ticks - self.tenants[at].due_since);
        }
        due.into_iter().map(|(_, at)| at).collect()
    }

    /// What a plain read sees: locked rows as they were.
    fn totals(&self, claimed: &[usize]) -> LaneTotals {
        let waiting = self.due.range(..=(self.now, usize::MAX)).map(|&(_, at)| at);
        let held = self.tickers.iter().filter_map(|ticker| ticker.held.as_ref());
        let held = held.flat_map(|(claimed, _)| claimed.iter().copied());
        let all = waiting.chain(held).chain(claimed.iter().copied());
        all.fold(LaneTotals::default(), |sum, at| LaneTotals {
            weight: sum.weight + self.tenants[at].state.s_weight,
            weighed: sum.weighed + u64::from(self.tenants[at].state.s_weight > 0.0),
            partitions: sum.partitions + 1,
        })
    }

    fn entrant(&mut self, at: usize) -> Entrant {
        let tenant = &mut self.tenants[at];
        let correction = std::mem::take(&mut tenant.correction);
        let mut state = tenant.state.clone();
        if self.rule == Rule::WithHoard {
            state.was_empty = false;
        }
        Entrant {
            state,
            weight: if self.rule == Rule::WithoutWeights { 1.0 } else { tenant.weight },
            waiting: tenant.waiting,
            allowance: tenant.allowance(self.now as f64 / 1e6),
            in_flight: tenant.in_flight,
            correction: if self.rule == Rule::WithoutCorrections { 0.0 } else { correction },
            finished: if self.rule == Rule::WithoutCorrections {
                Samples { jobs: u32::from(tenant.finished.jobs > 0), seconds: 1.0 }
            } else {
                std::mem::take(&mut tenant.finished)
            },
        }
    }

    fn commit(&mut self, turn: usize) {
        let Some((claimed, offers)) = self.tickers[turn].held.take() else { return };
        let taken: Vec<u32> = offers.each().iter().map(|offer| offer.jobs).collect();
        let settled = offers.settle(&taken);
        let now = self.now as f64 / 1e6;
        for (((&at, partition), &jobs), offer) in
            claimed.iter().zip(settled.partitions).zip(&taken).zip(offers.each())
        {
            let tenant = &mut self.tenants[at];
            tenant.state = partition.state;
            tenant.waiting -= u64::from(jobs);
            tenant.admitted += u64::from(jobs);
            tenant.charge(u64::from(jobs));
            if jobs > 0 {
                tenant.served_at = now;
            }
            if let Some(workers) = &mut self.workers {
                tenant.in_flight += u64::from(jobs);
                for _ in 0..jobs {
                    let seconds = tenant.length.draw(&mut self.dice);
                    workers.queue.push_back(Job { tenant: at, charged: partition.charged, seconds });
                }
            }
            let retry = if offer.unknown { Some(now + 1.0) } else { tenant.retry(now) };
            tenant.due = Some(retry.map_or(self.now, |at| (at * 1e6).ceil() as i64));
            self.arm(at);
        }
        self.tickers[turn].carried.merge(settled.advance);
    }

    fn advance(&mut self, turn: usize) {
        if self.dice.unit() < self.lane_hits {
            let advance = std::mem::take(&mut self.tickers[turn].carried);
            if self.rule == Rule::WithoutCatchingUp {
                self.lane.acc_min = None;
            }
            self.lane = advance.apply(&self.lane);
        }
    }
}
