//! How a tick moves its lane.

use std::collections::BTreeMap;

use super::{Census, LaneState, VirtualTime};

/// What one or more ticks add to a lane, relative to wherever it stands when they get hold of its row.
///
/// A tick that cannot lock the row in a short time keeps its advance and merges the next tick's into it; the order in
/// which advances are applied does not matter for the virtual time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LaneAdvance {
    /// How far the virtual time moves, in cost / weight.
    v: VirtualTime,
    /// By round number.
    rounds: BTreeMap<u64, RoundSums>,
}

/// What a tick counted for a round.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct RoundSums {
    /// Whether the tick found the round before this one to be over.
    pub(super) begins: bool,
    /// The elastic partitions that it was the first to see in the round.
    pub(super) elastic: Census,
    /// The lowest virtual start among all elastic partitions that it saw.
    pub(super) least: Option<VirtualTime>,
}

impl RoundSums {
    fn add(&mut self, more: Self) {
        self.begins |= more.begins;
        self.elastic.add(more.elastic);
        self.least = least(self.least, more.least);
    }
}

fn least(a: Option<VirtualTime>, b: Option<VirtualTime>) -> Option<VirtualTime> {
    a.into_iter().chain(b).min()
}

impl LaneAdvance {
    pub(super) fn new(by: f64, round_no: u64, sums: RoundSums) -> Self {
        Self { v: VirtualTime::ZERO.plus(by.max(0.0)), rounds: BTreeMap::from([(round_no, sums)]) }
    }

    /// Whether applying it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.v == VirtualTime::ZERO && self.rounds.values().all(|sums| *sums == RoundSums::default())
    }

    /// Adds another tick's advance.
    pub fn merge(&mut self, more: Self) {
        self.v = self.v.plus(more.v.since(VirtualTime::ZERO));
        for (round, sums) in more.rounds {
            self.rounds.entry(round).or_default().add(sums);
        }
        // A lane two rounds further on has no use for the sums.
        let newest = self.rounds.keys().next_back().copied().unwrap_or(0);
        self.rounds.retain(|round, _| round.saturating_add(1) >= newest);
    }

    /// The lane as it is after the advance. The caller holds the lock of the lane's row from reading to writing it.
    #[must_use]
    pub fn apply(&self, lane: &LaneState) -> LaneState {
        let mut lane = lane.clone();
        lane.v = lane.v.plus(self.v.since(VirtualTime::ZERO));
        for (&round, sums) in &self.rounds {
            if sums.begins && lane.round_no.checked_add(1) == Some(round) {
                lane.next_round();
            }
            if lane.round_no == round {
                lane.acc.add(sums.elastic);
                lane.acc_min = least(lane.acc_min, sums.least);
            } else if round.checked_add(1) == Some(lane.round_no) {
                // A straggler: other tickers ended the round that it counted for.
                lane.last.add(sums.elastic);
                lane.elastic = lane.elastic.or_more(lane.last);
            }
        }
        lane
    }
}
