//! What a tick knows about the partitions that it claimed.

use super::{PartitionState, UNKNOWN_IN_FLIGHT};

/// What a job costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cost {
    /// One, whatever it is.
    #[default]
    Jobs,
    /// The worker seconds it takes: an estimate at admission, corrected when it ends.
    Time,
}

/// A claimed partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Entrant {
    /// Its stored state; the default for one that has none.
    pub state: PartitionState,
    /// Its weight, resolved from its newest context; brought into range if it is not a usable one.
    pub weight: f64,
    /// Jobs that wait and could go now.
    pub waiting: u64,
    /// Jobs its gates let through now, not bounded by `waiting`; 0 when a gate denies.
    pub allowance: u64,
    /// Jobs in flight.
    pub in_flight: u64,
    /// Since its last look, for jobs that ended: the sum of real cost minus what was charged, in seconds. A job that was
    /// removed before it started really cost nothing. Only for costs in time.
    pub correction: f64,
    /// The jobs that ran to their end since its last look. Only for costs in time.
    pub finished: Samples,
}

/// What the jobs of a partition that ran to their end took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Samples {
    /// How many.
    pub jobs: u32,
    /// Their worker seconds together.
    pub seconds: f64,
}

/// How much a tick may admit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Jobs the tick may admit; `None` is no budget.
    pub budget: Option<u32>,
    /// Jobs the queue has room for, or this policy's part of them; `None` without back-pressure. A look without room is
    /// wasted, so claim only when there is some: best for a batch, or for an eighth of what may wait if that is less.
    pub queue: Option<u32>,
    /// Without a budget the tick may admit this many jobs for each claimed partition, on average.
    pub admission_batch_size: u32,
}

impl Entrant {
    /// What its gates let through, and what not knowing the length of its jobs leaves of that.
    pub(super) fn allowance(&self, cost: Cost, samples: u64) -> u64 {
        if cost == Cost::Time && samples == 0 {
            self.allowance.min(UNKNOWN_IN_FLIGHT.saturating_sub(self.in_flight))
        } else {
            self.allowance
        }
    }
}

impl Room {
    /// Jobs a tick that claimed so many partitions may admit, and whether it is the queue that bounds them.
    pub(super) fn jobs(&self, claimed: usize) -> (u64, bool) {
        let each = u64::from(self.admission_batch_size);
        let most = self.budget.map_or_else(|| each.saturating_mul(claimed as u64), u64::from);
        match self.queue.map(u64::from) {
            Some(room) if room < most => (room, true),
            _ => (most, false),
        }
    }
}
