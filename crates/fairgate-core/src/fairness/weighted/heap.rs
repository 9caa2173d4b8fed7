//! Lowest virtual start first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A partition that could take one more job.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Turn {
    lead: f64,
    at: usize,
}

impl Eq for Turn {}

impl Ord for Turn {
    /// The heap's greatest is the lowest lead, then the one that was claimed first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.lead.total_cmp(&self.lead).then(other.at.cmp(&self.at))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A partition that takes part in sharing.
pub(super) struct Share {
    /// Its virtual start, from the lane's virtual time on.
    pub(super) lead: f64,
    /// How far one job moves it; positive.
    pub(super) step: f64,
    /// Jobs it could take.
    pub(super) most: u64,
}

/// Gives out up to `room` jobs, one at a time to the lowest start that is not past `limit`. Returns the jobs of each,
/// and the jobs of room that the limit left unused: 0 unless it held somebody back.
pub(super) fn share(shares: &[Share], room: u64, limit: f64) -> (Vec<u64>, u64) {
    let mut given = vec![0; shares.len()];
    let wanting = shares.iter().enumerate().filter(|(_, share)| share.most > 0);
    let mut turns: BinaryHeap<Turn> = wanting.map(|(at, share)| Turn { lead: share.lead, at }).collect();
    let mut left = room;
    while left > 0 {
        let Some(mut turn) = turns.peek_mut() else {
            return (given, 0);
        };
        if turn.lead > limit {
            return (given, left);
        }
        let share = &shares[turn.at];
        given[turn.at] += 1;
        left -= 1;
        if given[turn.at] < share.most {
            turn.lead += share.step;
        } else {
            std::collections::binary_heap::PeekMut::pop(turn);
        }
    }
    (given, 0)
}
