//! What to write back after the jobs were really taken.

use super::advance::{LaneAdvance, RoundSums};
use super::look::Arrival;
use super::offer::{Bound, Offers};
use super::partition::PartitionState;

/// The part of its advance that a tick makes although some of its lane lag behind: one of a weight that no budget can
/// serve shall not stop everybody else.
const LEAST_ADVANCE: f64 = 0.5;

/// What to write back for a tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// For each claimed partition, in the order of the claim.
    pub partitions: Vec<SettledPartition>,
    /// What the tick adds to its lane after its commit.
    pub advance: LaneAdvance,
}

/// What to write back for one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct SettledPartition {
    /// Its new state.
    pub state: PartitionState,
    /// What each job taken was charged: 1, or seconds. The in-flight rows keep it.
    pub charged: f64,
}

/// What the elastic partitions of a tick add up to.
#[derive(Default)]
struct Sums {
    round: RoundSums,
    /// Charges and corrections.
    spent: f64,
    /// What partitions that are still behind the virtual time have a claim to, in cost: it must not run away from them.
    behind: f64,
    /// Their weights.
    weight: f64,
    /// How far past the virtual time the most served of all partitions is; at least 0.
    furthest: f64,
    /// Their weights by the cost of a job: jobs per unit of virtual time.
    jobs_per_unit: f64,
}

impl Offers {
    /// What to write back when `taken[i]` jobs of the i-th partition were really taken. A count that is not there is zero.
    pub fn settle(&self, taken: &[u32]) -> Settled {
        let taken = taken.iter().copied().chain(std::iter::repeat(0));
        let mut sums =
            Sums { round: RoundSums { begins: self.begins, ..RoundSums::default() }, ..Sums::default() };
        let partitions = self
            .arrivals
            .iter()
            .zip(taken)
            .map(|(arrival, taken)| self.settle_one(arrival, taken, &mut sums))
            .collect();
        Settled { partitions, advance: self.advance(&sums) }
    }

    fn settle_one(&self, arrival: &Arrival, taken: u32, sums: &mut Sums) -> SettledPartition {
        let mut state = arrival.state.clone();
        let mut lead = arrival.lead + f64::from(taken) * arrival.step();
        let taken = u64::from(taken);
        state.seen_round = self.lane.round_no;
        state.was_empty = taken >= arrival.waiting;
        if !state.was_empty && taken >= arrival.allowance {
            // What its gates withhold is not owed to it.
            lead = lead.max(-arrival.step());
        }
        state.s = self.lane.v.plus(lead);
        sums.furthest = sums.furthest.max(lead);
        if taken < arrival.most() {
            sums.count(arrival, taken as f64, lead, &mut state, self.lane.round_no);
        }
        SettledPartition { state, charged: arrival.cost }
    }

    fn advance(&self, sums: &Sums) -> LaneAdvance {
        if self.quiet && sums.weight <= 0.0 {
            // Service that nobody else wanted is not to be paid for later: the virtual time goes to its end.
            return LaneAdvance::new(sums.furthest, self.lane.round_no, sums.round);
        }
        let per_job = if sums.jobs_per_unit > 0.0 { sums.weight / sums.jobs_per_unit } else { 0.0 };
        let weight = self.lane.elastic.w.max(sums.weight);
        let unused = self.unused as f64 * per_job;
        let lost = match self.room {
            Bound::None => 0.0,
            Bound::Budget => unused,
            // What is aimed at is to leave as much room as is taken, so that a heavier batch finds enough.
            Bound::Queue { part } => {
                let spare = unused - sums.spent;
                // Where no virtual start lies for a while, the virtual time goes on at the pace of the last round.
                let pace = self.lane.v_round * weight * part - sums.spent;
                (spare * part).max(pace.min(spare))
            }
        };
        let cost = sums.spent + lost - sums.behind;
        let by = if weight > 0.0 { cost.max(0.0) / weight } else { 0.0 };
        let by = match self.room {
            Bound::Budget => by.min(self.lane.headroom()).max(by * LEAST_ADVANCE),
            Bound::None | Bound::Queue { .. } => by,
        };
        LaneAdvance::new(by, self.lane.round_no, sums.round)
    }
}

impl Sums {
    /// Counts an elastic partition; its weight only once a round.
    fn count(&mut self, arrival: &Arrival, taken: f64, lead: f64, state: &mut PartitionState, round: u64) {
        self.spent += taken * arrival.cost + arrival.correction;
        self.behind += (-lead).max(0.0) * arrival.weight;
        self.weight += arrival.weight;
        self.jobs_per_unit += arrival.weight / arrival.cost;
        self.round.least = self.round.least.into_iter().chain([state.s]).min();
        if state.counted_round != round {
            state.counted_round = round;
            self.round.elastic.count(arrival.weight, arrival.cost);
        }
    }
}
