//! The elastic partitions of a lane, counted.

use serde::{Deserialize, Serialize};

/// Elastic partitions: those that could take more than they got, because neither their gates nor their demand held them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Census {
    /// How many.
    pub n: u64,
    /// Their weights together.
    pub w: f64,
    /// The cost of one job of each together: what a round costs in which each gets one.
    pub c: f64,
}

impl Census {
    /// Counts one more.
    pub(super) fn count(&mut self, weight: f64, cost: f64) {
        self.add(Self { n: 1, w: weight, c: cost });
    }

    pub(super) fn add(&mut self, more: Self) {
        self.n = self.n.saturating_add(more.n);
        self.w += more.w;
        self.c += more.c;
    }

    /// The larger of each number.
    pub(super) fn or_more(self, other: Self) -> Self {
        Self { n: self.n.max(other.n), w: self.w.max(other.w), c: self.c.max(other.c) }
    }
}
