//! How many jobs each claimed partition may take.

use super::entrant::{Cost, Entrant, Room};
use super::heap::{Share, share};
use super::lane::{LaneState, LaneTotals};
use super::look::{Arrival, arrive};
use super::usable_weight;

/// A batch with this part of the weight in the lane shares everything among itself.
const NEARLY_ALL: f64 = 0.9;

/// What one tick may take, partition by partition, and what settling needs again.
#[derive(Debug, Clone)]
pub struct Offers {
    pub(super) arrivals: Vec<Arrival>,
    pub(super) offers: Vec<Offer>,
    /// The lane as the tick sees it.
    pub(super) lane: LaneState,
    /// Whether the tick found the round before to be over.
    pub(super) begins: bool,
    /// Whether nobody waited for anybody lately.
    pub(super) quiet: bool,
    /// Jobs of room that nobody could use because their turn had not come.
    pub(super) unused: u64,
    pub(super) room: Bound,
}

/// What bounds a tick besides virtual starts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    /// Nobody is held back by virtual starts, so the room is shared whole.
    None,
    /// Every batch of a round brings a budget of its own.
    Budget,
    /// Every batch of a round finds the same room in the queue; this tick is so much of a round.
    Queue { part: f64 },
}

/// What one partition may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Jobs, at most.
    pub jobs: u32,
    /// Whether it could take more and there was room, but others are served first: it has had more than its share.
    pub ahead: bool,
    /// Whether it could take more but the room is gone.
    pub no_room: bool,
    /// Whether it could take more but none of its jobs has finished yet, so nobody knows how long they are. Look again
    /// when one finishes, as at a full concurrency gate.
    pub unknown: bool,
}

/// Shares a tick's room among the claimed partitions, which stand in the order in which they were claimed.
///
/// `lane` is read without a lock before the claim; `totals` is read when [`LaneState::wants_totals`] says so.
pub fn offers(
    cost: Cost,
    lane: &LaneState,
    totals: Option<LaneTotals>,
    entrants: &[Entrant],
    room: &Room,
) -> Offers {
    let mut lane = lane.clone();
    let all_here = totals.is_some_and(|totals| totals.partitions <= entrants.len() as u64);
    let begins = !entrants.is_empty() && (all_here || lane.is_round_over(entrants));
    if begins {
        lane.next_round();
    }
    let quiet = lane.is_quiet();
    if let Some(totals) = totals {
        let weights = entrants.iter().map(|entrant| usable_weight(entrant.weight));
        lane.elastic.w = totals.all_weigh(weights.sum::<f64>() / entrants.len().max(1) as f64);
        lane.elastic.n = totals.partitions;
    }
    let arrivals: Vec<Arrival> = entrants.iter().map(|entrant| arrive(cost, &lane, entrant)).collect();
    let wanting = arrivals.iter().filter(|arrival| arrival.most() > 0);
    let here: f64 = wanting.map(|arrival| arrival.weight).sum();
    let limit = if here >= NEARLY_ALL * lane.elastic.w { f64::INFINITY } else { 0.0 };
    let shares: Vec<Share> = arrivals
        .iter()
        .map(|arrival| Share { lead: arrival.lead, step: arrival.step(), most: arrival.most() })
        .collect();
    let (jobs, bounded_by_queue) = room.jobs(entrants.len());
    let (given, unused) = share(&shares, jobs.min(u64::from(u32::MAX)), limit);
    let room = if limit.is_infinite() {
        Bound::None
    } else if bounded_by_queue {
        Bound::Queue { part: (entrants.len() as f64 / lane.elastic.n.max(1) as f64).min(1.0) }
    } else {
        Bound::Budget
    };
    let offers = arrivals.iter().zip(given).map(|(arrival, jobs)| offer(arrival, jobs, unused)).collect();
    Offers { arrivals, offers, lane, begins, quiet, unused, room }
}

fn offer(arrival: &Arrival, jobs: u64, unused: u64) -> Offer {
    let wants_more = jobs < arrival.most();
    Offer {
        jobs: u32::try_from(jobs).unwrap_or(u32::MAX),
        ahead: wants_more && unused > 0,
        no_room: wants_more && unused == 0,
        unknown: arrival.unknown && jobs == arrival.allowance && jobs < arrival.waiting,
    }
}

impl Offers {
    /// What each claimed partition may take, in the order of the claim.
    pub fn each(&self) -> &[Offer] {
        &self.offers
    }
}
