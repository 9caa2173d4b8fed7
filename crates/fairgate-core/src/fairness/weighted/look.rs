//! A partition arriving at its look.

use super::{Cost, Entrant, LaneState, PartitionState, usable_cost, usable_weight};

/// Rounds of service that a partition that always had work can be behind without losing the claim to them. A busy machine
/// may hold up the ticker that has claimed it for several, and a full budget adds some.
const PATIENCE: f64 = 8.0;
/// The part of a job that a waking partition is ahead of those that were served all along. A whole job would let a crowd
/// that wakes together have a second round before a tenant that was alone till then gets its first job.
const WAKING_CREDIT: f64 = 0.5;
/// Past it a sum of corrections is not believable.
const MAX_CORRECTION: f64 = 1e15;

/// A partition with everything that changed since its last look taken in.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    pub(super) state: PartitionState,
    /// The weight in force.
    pub(super) weight: f64,
    /// What one job is charged.
    pub(super) cost: f64,
    /// The correction that was taken in.
    pub(super) correction: f64,
    /// Its virtual start, from the lane's virtual time on.
    pub(super) lead: f64,
    pub(super) waiting: u64,
    pub(super) allowance: u64,
    /// Whether it is the unknown length of its jobs that holds it, not its gates.
    pub(super) unknown: bool,
}

impl Arrival {
    /// How far one job moves its virtual start.
    pub(super) fn step(&self) -> f64 {
        self.cost / self.weight
    }

    /// Jobs it could take.
    pub(super) fn most(&self) -> u64 {
        self.waiting.min(self.allowance)
    }
}

/// Takes in a changed weight, corrections and time spent away. `lane` is a view that may be a little old.
pub(super) fn arrive(cost: Cost, lane: &LaneState, entrant: &Entrant) -> Arrival {
    let mut state = entrant.state.clone();
    let weight = usable_weight(entrant.weight);
    let correction = match cost {
        Cost::Jobs => 0.0,
        Cost::Time => {
            state.learn(entrant.finished);
            believable(entrant.correction)
        }
    };
    let cost_of_one = match cost {
        Cost::Jobs => 1.0,
        Cost::Time => usable_cost(state.est),
    };
    let step = cost_of_one / weight;
    let mut lead = state.s.since(lane.v);
    if lead > 0.0 && state.s_weight > 0.0 {
        // Debt is owed in cost, whatever the weight is now.
        lead *= usable_weight(state.s_weight) / weight;
    }
    lead += correction / weight;
    let furthest_behind =
        if state.was_empty { WAKING_CREDIT * step } else { PATIENCE * lane.stride() + step };
    lead = lead.max(-furthest_behind);
    state.s_weight = weight;
    let allowance = entrant.allowance(cost, state.est_n);
    Arrival {
        weight,
        cost: cost_of_one,
        correction,
        lead,
        waiting: entrant.waiting,
        allowance,
        unknown: allowance < entrant.allowance,
        state,
    }
}

fn believable(correction: f64) -> f64 {
    if correction.is_nan() { 0.0 } else { correction.clamp(-MAX_CORRECTION, MAX_CORRECTION) }
}
