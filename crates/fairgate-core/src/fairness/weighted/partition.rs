//! What is kept for each partition.

use serde::{Deserialize, Serialize};

use super::{Samples, VirtualTime, usable_cost};

/// What a new sample counts in the estimate.
const NEW_SAMPLE: f64 = 0.2;
/// The cost of a job before the first has finished, in seconds.
const FIRST_ESTIMATE: f64 = 1.0;

/// What weighted fairness remembers of a partition. The default is a partition that has never been looked at.
///
/// JSON: an object of these fields; one that is left out has its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartitionState {
    /// Its virtual start: up to here it has been served.
    pub s: VirtualTime,
    /// The weight that `s` was computed with; 0 before the first look.
    pub s_weight: f64,
    /// What one of its jobs is expected to take, in seconds.
    pub est: f64,
    /// Finished jobs that the estimate knows.
    pub est_n: u64,
    /// Whether nothing waited after its last look.
    pub was_empty: bool,
    /// The last round of the lane in which it was looked at.
    pub seen_round: u64,
    /// The last round of the lane in which its weight was counted.
    pub counted_round: u64,
}

impl Default for PartitionState {
    fn default() -> Self {
        Self {
            s: VirtualTime::ZERO,
            s_weight: 0.0,
            est: FIRST_ESTIMATE,
            est_n: 0,
            was_empty: true,
            seen_round: 0,
            counted_round: 0,
        }
    }
}

impl PartitionState {
    /// Learns from finished jobs: the first estimate is their mean, then each counts a fifth.
    pub(super) fn learn(&mut self, finished: Samples) {
        if finished.jobs == 0 {
            return;
        }
        let mean = usable_cost(finished.seconds / f64::from(finished.jobs));
        let kept = if self.est_n == 0 { 0.0 } else { (1.0 - NEW_SAMPLE).powf(f64::from(finished.jobs)) };
        self.est = mean + kept * (usable_cost(self.est) - mean);
        self.est_n = self.est_n.saturating_add(u64::from(finished.jobs));
    }
}
