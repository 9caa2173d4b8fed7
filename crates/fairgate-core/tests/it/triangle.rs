//! Adaptive caps and recent-activity fairness together: 40 tenants whose load rises from one to the next, budget 60.

use std::collections::VecDeque;

use fairgate_core::{Claimed, Due, Policy, plan};

use crate::adaptive::{Seen, json};
use crate::support::{SECOND, at, builder, claimed, limits};

const TENANTS: usize = 40;
const BUDGET: u32 = 60;
const INITIAL: u64 = 10;
const TICK: i64 = SECOND / 10;
const SERVICE: i64 = SECOND / 2;
/// The coldest stage a job every fortieth tick, the hottest one every tick.
const PERIODS: i64 = 40;

/// A tenant with an endpoint of its own that takes one job at a time.
struct Tenant {
    facts: Claimed,
    /// When it is due; `None` while it is idle.
    due: Option<i64>,
    /// When its waiting jobs were staged.
    staged: VecDeque<i64>,
    /// Ends and observations of its jobs in flight.
    running: VecDeque<(i64, Seen)>,
    free_at: i64,
    longest_wait: i64,
}

impl Tenant {
    fn new(at: usize) -> Self {
        Self {
            facts: claimed(&at.to_string(), 0),
            due: None,
            staged: VecDeque::new(),
            running: VecDeque::new(),
            free_at: 0,
            longest_wait: 0,
        }
    }

    fn stage(&mut self, now: i64) {
        self.staged.push_back(now);
        self.facts.pending += 1;
        self.due = self.due.or(Some(now));
    }

    fn finish(&mut self, now: i64) {
        let ended = self.running.iter().take_while(|(end, _)| *end <= now).count();
        let seen: Vec<Seen> = self.running.drain(..ended).map(|(_, seen)| seen).collect();
        self.facts.in_flight -= ended as i64;
        if !seen.is_empty() {
            self.facts.observations = Some(json(&seen));
            self.due = (self.facts.pending > 0).then(|| self.due.unwrap_or(now).min(now));
        }
    }

    fn admit(&mut self, now: i64) {
        let staged = self.staged.pop_front().unwrap();
        self.longest_wait = self.longest_wait.max((now - staged) / TICK);
        let start = self.free_at.max(now);
        self.free_at = start + SERVICE;
        self.running.push_back((self.free_at, (now, (start - now) as f64 / 1_000.0, "s")));
    }

    fn cap(&self) -> u64 {
        let text = self.facts.gates.as_deref().unwrap_or(r#"{"adaptive_concurrency":{"cap":10}}"#);
        let states: serde_json::Value = serde_json::from_str(text).unwrap();
        states["adaptive_concurrency"]["cap"].as_u64().unwrap()
    }

    fn effective_cap(&self) -> u64 {
        if self.facts.in_flight == 0 { self.cap().max(INITIAL) } else { self.cap() }
    }
}

/// One tick: the longest due first, at most a batch of them.
fn tick(policy: &Policy, tenants: &mut [Tenant], batch: usize, now: i64) {
    let mut due: Vec<usize> =
        (0..tenants.len()).filter(|&at| tenants[at].due.is_some_and(|due| due <= now)).collect();
    due.sort_by_key(|&at| (tenants[at].due, at));
    due.truncate(batch);
    let facts: Vec<Claimed> = due.iter().map(|&at| tenants[at].facts.clone()).collect();
    let plan = plan(policy, &facts, &limits(Some(BUDGET)), at(now));
    let taken: Vec<u32> = plan.looks.iter().map(|look| look.take).collect();
    assert!(taken.iter().sum::<u32>() <= BUDGET);
    for ((&at, taken), settled) in due.iter().zip(&taken).zip(plan.settle(&taken)) {
        let tenant = &mut tenants[at];
        let in_flight = tenant.facts.in_flight;
        tenant.facts.gates = Some(settled.gates);
        tenant.facts.observations = None;
        // The cap as it was folded before the tick decided is the one stored.
        let free = tenant.effective_cap().saturating_sub(in_flight as u64);
        assert!(u64::from(*taken) <= free, "{taken} jobs into {free} slots");
        assert!(i64::from(*taken) <= tenant.facts.pending);
        (tenant.facts.recent, tenant.facts.recent_at) = (settled.recent, settled.recent_at);
        tenant.facts.starved = settled.starved;
        for _ in 0..*taken {
            tenant.admit(now);
        }
        tenant.facts.pending -= i64::from(*taken);
        tenant.facts.in_flight += i64::from(*taken);
        tenant.due = match settled.due {
            Due::Idle => None,
            Due::Now => Some(now),
            Due::At(instant) => Some(crate::support::micros(instant)),
        };
    }
}

/// Ten minutes of it, with so many partitions looked at in a tick. Says the mean caps of the last five.
fn simulate(batch: usize) -> (Vec<Tenant>, Vec<f64>) {
    const STEPS: i64 = 6_000;
    let policy = builder()
        .adaptive_concurrency(|a| a.initial_max(INITIAL as f64).target_lag_ms(1_000.0))
        .build()
        .unwrap();
    let mut tenants: Vec<Tenant> = (0..TENANTS).map(Tenant::new).collect();
    let mut caps = vec![0.0; TENANTS];
    for step in 0..STEPS {
        let now = step * TICK;
        for (at, tenant) in tenants.iter_mut().enumerate() {
            tenant.finish(now);
            let load = at as i64 + 1;
            if step * load / PERIODS > (step - 1) * load / PERIODS {
                tenant.stage(now);
            }
            if step >= STEPS / 2 {
                caps[at] += tenant.cap() as f64 * 2.0 / STEPS as f64;
            }
        }
        tick(&policy, &mut tenants, batch, now);
    }
    (tenants, caps)
}

#[test]
fn hot_caps_fall_and_no_cold_tenant_waits_longer_than_a_round_and_one_tick() {
    // An endpoint ends two jobs a second; tenants that stage fewer are cold, those that stage twice as many are hot.
    let a_second = |at: usize| (at as i64 + 1) * (SECOND / TICK) / PERIODS;
    for batch in [10, 50] {
        let (tenants, caps) = simulate(batch);
        let round = (TENANTS.div_ceil(batch) + 1) as i64;
        for (at, (tenant, cap)) in tenants.iter().zip(caps).enumerate() {
            if a_second(at) < 2 {
                assert!(tenant.longest_wait <= round, "tenant {at} waited {} ticks", tenant.longest_wait);
            }
            if a_second(at) >= 4 {
                // The level of one worker of half a second is 3.
                assert!((2.0..5.0).contains(&cap), "tenant {at} has {cap}");
                assert!(tenant.facts.pending > 0, "tenant {at} has a backlog");
            }
        }
    }
}
