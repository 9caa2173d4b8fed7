//! A tenant: its backlog, its gate, how long its jobs are, and what the lane keeps of it.

use fairgate_core::fairness::weighted::{PartitionState, Samples};

use super::Dice;

/// A backlog that no test uses up.
pub(crate) const ENDLESS: u64 = 1 << 40;

/// What a tenant's gates let through.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gate {
    Open,
    /// Jobs a second, saved up to the burst.
    Rate {
        rate: f64,
        burst: f64,
    },
    /// Jobs in flight.
    InFlight(u64),
}

/// How long a job runs, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Length {
    Fixed(f64),
    Between(f64, f64),
    /// Pareto with this shape, from `least` to `most`.
    HeavyTail {
        shape: f64,
        least: f64,
        most: f64,
    },
}

impl Length {
    pub(super) const fn longest(self) -> f64 {
        match self {
            Self::Fixed(longest) | Self::Between(_, longest) | Self::HeavyTail { most: longest, .. } => {
                longest
            }
        }
    }

    pub(crate) fn draw(self, dice: &mut Dice) -> f64 {
        match self {
            Self::Fixed(seconds) => seconds,
            Self::Between(from, to) => from + (to - from) * dice.unit(),
            Self::HeavyTail { shape, least, most } => {
                (least * (1.0 - dice.unit()).powf(-1.0 / shape)).min(most)
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Tenant {
    pub(crate) weight: f64,
    pub(crate) waiting: u64,
    pub(crate) gate: Gate,
    pub(crate) length: Length,
    pub(crate) state: PartitionState,
    /// Microseconds; `None` until its first look.
    pub(crate) due: Option<i64>,
    pub(crate) correction: f64,
    pub(crate) finished: Samples,
    pub(crate) in_flight: u64,
    tokens: f64,
    refilled: f64,
    /// Jobs admitted so far.
    pub(crate) admitted: u64,
    /// Worker seconds so far, as of microsecond 0 for jobs that run: each adds the seconds since.
    pub(super) worked: f64,
    pub(super) running: u64,
    /// When a job was last admitted.
    pub(crate) served_at: f64,
    /// The tick after which it was due.
    pub(crate) due_since: u64,
}

impl Tenant {
    /// With an endless backlog, an open gate and jobs of a second.
    pub(crate) fn new(weight: f64) -> Self {
        Self {
            weight,
            waiting: ENDLESS,
            gate: Gate::Open,
            length: Length::Fixed(1.0),
            state: PartitionState::default(),
            due: None,
            correction: 0.0,
            finished: Samples::default(),
            in_flight: 0,
            tokens: 0.0,
            refilled: 0.0,
            admitted: 0,
            worked: 0.0,
            running: 0,
            served_at: 0.0,
            due_since: 0,
        }
    }

    pub(crate) fn gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    pub(crate) fn length(mut self, length: Length) -> Self {
        self.length = length;
        self
    }

    pub(crate) fn waiting(mut self, jobs: u64) -> Self {
        self.waiting = jobs;
        self
    }

    pub(super) fn allowance(&mut self, now: f64) -> u64 {
        match self.gate {
            Gate::Open => u64::MAX,
            Gate::InFlight(most) => most.saturating_sub(self.in_flight),
            Gate::Rate { rate, burst } => {
                self.tokens = (self.tokens + (now - self.refilled) * rate).min(burst);
                self.refilled = now;
                (self.tokens + 1e-9) as u64
            }
        }
    }

    /// Worker seconds that it got so far.
    pub(crate) fn worked(&self, now: f64) -> f64 {
        self.worked + self.running as f64 * now
    }

    pub(super) fn charge(&mut self, jobs: u64) {
        self.tokens -= jobs as f64;
    }

    /// When its gate lets the next job through, unless one finishes earlier.
    pub(super) fn retry(&mut self, now: f64) -> Option<f64> {
        if self.allowance(now) > 0 {
            return None;
        }
        match self.gate {
            Gate::Rate { rate, .. } => Some(now + (1.0 - self.tokens) / rate),
            Gate::Open | Gate::InFlight(_) => Some(now + 1.0),
        }
    }
}
