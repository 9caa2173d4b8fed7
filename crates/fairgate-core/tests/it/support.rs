//! Instants, contexts and partitions to test with.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate_core::fairness::weighted::Samples;
use fairgate_core::{Claimed, Context, Facts, GateStates, Limits, Policy, PolicyBuilder, decide};

pub(crate) const SECOND: i64 = 1_000_000;

/// An instant, in microseconds after a fixed one.
pub(crate) fn at(micros: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(1_700_000_000_000_000 + micros).unwrap()
}

/// The inverse of [`at`].
pub(crate) fn micros(instant: DateTime<Utc>) -> i64 {
    instant.timestamp_micros() - 1_700_000_000_000_000
}

pub(crate) fn context(json: &str) -> Context {
    Context::parse(json).unwrap()
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A policy that only lacks gates.
pub(crate) fn builder() -> PolicyBuilder {
    Policy::builder("p").queue("main").partition_by("k")
}

/// A policy with one throttle.
pub(crate) fn throttled(rate: f64, per: Duration, burst: f64) -> Policy {
    let policy = builder().throttle(|t| t.rate(rate).per(per).burst(burst));
    policy.build().unwrap()
}

pub(crate) fn claimed(key: &str, pending: i64) -> Claimed {
    Claimed {
        key: key.parse().unwrap(),
        context: Context::empty(),
        pending,
        in_flight: 0,
        gates: None,
        observations: None,
        recent: 0.0,
        recent_at: at(0),
        starved: false,
        share: None,
        correction: 0.0,
        finished: Samples::default(),
        overrides: None,
    }
}

pub(crate) fn limits(budget: Option<u32>) -> Limits {
    Limits {
        admission_batch_size: 100,
        tick_admission_budget: budget,
        half_life: Some(seconds(60)),
        queue_room: None,
    }
}

/// A partition whose stored states follow its looks, as a ticker would keep them.
pub(crate) struct Partition {
    pub(crate) policy: Policy,
    pub(crate) context: Context,
    pub(crate) states: Option<String>,
    pub(crate) pending: i64,
    pub(crate) in_flight: i64,
}

impl Partition {
    pub(crate) fn of(policy: &Policy) -> Self {
        Self { policy: policy.clone(), context: Context::empty(), states: None, pending: 1, in_flight: 0 }
    }

    pub(crate) fn decide(&self, now: i64) -> fairgate_core::Decision {
        let facts = Facts { context: &self.context, pending: self.pending, in_flight: self.in_flight };
        let states = GateStates::parse(self.states.as_deref());
        decide(&self.policy, &facts, &states, at(now))
    }

    pub(crate) fn allowance(&self, now: i64) -> u64 {
        self.decide(now).allowance
    }

    /// When it may go, in microseconds, or `None` when it may go now.
    pub(crate) fn until(&self, now: i64) -> Option<i64> {
        let decision = self.decide(now);
        decision.denial.map(|_| micros(decision.due))
    }

    /// Takes so many jobs, allowed or not.
    pub(crate) fn take(&mut self, now: i64, jobs: u64) {
        let states = self.decide(now).settle(jobs, at(now));
        self.states = Some(states.to_json());
    }

    /// Takes what is allowed, at most `most`.
    pub(crate) fn take_allowed(&mut self, now: i64, most: u64) -> u64 {
        let jobs = self.allowance(now).min(most);
        self.take(now, jobs);
        jobs
    }
}
