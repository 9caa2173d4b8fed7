//! Weighted fairness: backlogged partitions share what gates, budget and queue leave in proportion to their weights.
//!
//! This is start-time fair queueing (P. Goyal, H. M. Vin, H. Cheng, *Start-time Fair Queueing: A Scheduling Algorithm for
//! Integrated Services Packet Switching Networks*, SIGCOMM 1996) adapted to batches: which partitions a tick looks at is
//! decided elsewhere, in due order; the virtual time of their lane, which is one policy in one shard, decides how much a
//! look may take. Each partition has a virtual start; a job of cost `c` moves it by `c / weight`; a look serves partitions
//! whose start is not past the lane's virtual time, lowest first. The virtual time follows what was served.
//!
//! ```text
//! lane (read without a lock), entrants -> offers -> Offers::jobs        how many jobs each may take
//!                         what was taken -> Offers::settle -> Settled    states, charges, a LaneAdvance
//!               the lane's row, locked    -> LaneAdvance::apply          after the tick's commit
//! ```
//!
//! Costs are jobs (1 each) or worker seconds; weights have no unit; virtual time is cost / weight. Every number that
//! comes in is brought into range, so none that is stored is ever NaN, infinite or stuck.

mod advance;
mod census;
mod entrant;
mod heap;
mod lane;
mod look;
mod offer;
mod partition;
mod settle;
mod virtual_time;

pub use advance::LaneAdvance;
pub use census::Census;
pub use entrant::{Cost, Entrant, Room, Samples};
pub use lane::{LaneState, LaneTotals};
pub use offer::{Offer, Offers, offers};
pub use partition::PartitionState;
pub use settle::{Settled, SettledPartition};
pub use virtual_time::VirtualTime;

/// The smallest weight that is told apart from none.
pub const MIN_WEIGHT: f64 = 1e-6;
/// The largest weight.
pub const MAX_WEIGHT: f64 = 1e6;
/// The least a job costs, in seconds: one that cost nothing would never move its partition's virtual start.
pub const MIN_COST: f64 = 1e-3;
/// The most a job costs, in seconds: ten years.
pub const MAX_COST: f64 = 3.2e8;
/// Jobs that a partition may have in flight while costs are times and none of its jobs has ever finished.
pub const UNKNOWN_IN_FLIGHT: u64 = 4;

/// A usable weight: what is no positive number counts as the smallest one.
fn usable_weight(weight: f64) -> f64 {
    if weight.is_nan() { MIN_WEIGHT } else { weight.clamp(MIN_WEIGHT, MAX_WEIGHT) }
}

/// A usable cost of one job.
fn usable_cost(cost: f64) -> f64 {
    if cost.is_nan() { MIN_COST } else { cost.clamp(MIN_COST, MAX_COST) }
}
