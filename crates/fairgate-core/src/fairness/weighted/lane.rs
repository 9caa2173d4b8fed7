//! What is kept for each lane: one policy in one shard.

use serde::{Deserialize, Serialize};

use super::{Census, Entrant, VirtualTime};

/// What a round leaves of the pace of the rounds before it.
const PACE_KEPT: f64 = 0.9;
/// Rounds that the virtual time may be ahead of the lowest start seen in the last round: that start is up to two rounds old
/// where nobody lags, and ticks of other tickers add a part of one.
const HEADROOM: f64 = 2.5;

/// The virtual time of a lane and the sums of its rounds. The default is a lane that has never served.
///
/// A round is the time in which every due partition is looked at once.
///
/// JSON: an object of these fields; one that is left out has its default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LaneState {
    /// The virtual time: whoever has been served further waits.
    pub v: VirtualTime,
    /// The elastic partitions: the larger counts of the last two rounds, since other tickers may still be about to add
    /// theirs to the last one.
    pub elastic: Census,
    /// Those of the round before this one.
    pub last: Census,
    /// Those counted in this round so far.
    pub acc: Census,
    /// The lowest virtual start among those counted in this round so far.
    pub acc_min: Option<VirtualTime>,
    /// The lowest virtual start among those counted in the round before this one.
    pub last_min: Option<VirtualTime>,
    /// How far the virtual time moved in the round before this one.
    pub v_round: f64,
    /// How far it moved in the fastest of the last rounds, where each round since counts a tenth less: rounds differ, and
    /// one in which it hardly moved says little of the next.
    pub pace: f64,
    /// The round; 0 before the first tick.
    pub round_no: u64,
    /// Where the virtual time stood when it began.
    pub round_v: VirtualTime,
}

/// All partitions of a lane that are due now, from a plain read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LaneTotals {
    /// The sum of [`super::PartitionState::s_weight`]; one that was never looked at adds 0.
    pub weight: f64,
    /// How many have such a weight.
    pub weighed: u64,
    /// How many there are.
    pub partitions: u64,
}

impl LaneTotals {
    /// The weight of all, when those that were never looked at weigh `each` on average.
    pub(super) fn all_weigh(&self, each: f64) -> f64 {
        self.weight.max(0.0) + self.partitions.saturating_sub(self.weighed) as f64 * each
    }
}

impl LaneState {
    /// Whether a tick that claimed `claimed` partitions of at most `batch` should read [`LaneTotals`] before it makes
    /// offers: the sums of the last round say little when a claim got everybody, and nothing in a new lane.
    pub fn wants_totals(&self, claimed: usize, batch: usize) -> bool {
        claimed < batch || self.elastic.w <= 0.0
    }

    /// Whether a claim shows that everybody was looked at in this round: it is in due order, so the first partition of it
    /// had its look when the round began, or has not had it. One that wakes goes before its turn and shows nothing.
    pub(super) fn is_round_over(&self, claimed: &[Entrant]) -> bool {
        let first = claimed.iter().find(|entrant| !entrant.state.was_empty);
        self.round_no == 0 || first.is_some_and(|entrant| entrant.state.seen_round == self.round_no)
    }

    /// Begins the next round. The virtual time catches up with the least served elastic partition, so that
    /// nobody pays for service at a time when there was no one to wait.
    pub(super) fn next_round(&mut self) {
        self.last_min = self.acc_min.take();
        if let Some(least) = self.last_min {
            self.v = self.v.max(least);
        }
        self.v_round = self.v.since(self.round_v).max(0.0);
        self.pace = self.v_round.max(self.pace * PACE_KEPT);
        self.round_v = self.v;
        self.elastic = self.acc.or_more(self.last);
        self.last = std::mem::take(&mut self.acc);
        self.round_no = self.round_no.saturating_add(1);
    }

    /// Whether no partition was elastic in the last two rounds and this one: there is enough for everybody.
    pub(super) fn is_quiet(&self) -> bool {
        self.elastic.n == 0 && self.acc.n == 0
    }

    /// How far the virtual time may still go before it is too far from the least served elastic partition; negative when it
    /// is. Where a tick's budget is too small for the weights that it happens to claim together, those fall behind, and the
    /// virtual time must wait for them, or everybody else takes what is theirs.
    pub(super) fn headroom(&self) -> f64 {
        self.last_min.map_or(f64::INFINITY, |least| least.since(self.v) + HEADROOM * self.stride())
    }

    /// How far the virtual time moves in a round, or while every elastic partition gets one job if that is longer.
    pub(super) fn stride(&self) -> f64 {
        let one_each = if self.elastic.w > 0.0 { self.elastic.c / self.elastic.w } else { 0.0 };
        one_each.max(self.pace)
    }
}
