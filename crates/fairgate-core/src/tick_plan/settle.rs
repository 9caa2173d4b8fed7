//! What to write back after the jobs were really taken.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{Look, TickPlan};
use crate::gate::Facts;
use crate::pipeline::decide;
use crate::time::later;
use crate::verdict::Denial;

/// When to look again at jobs that another transaction holds.
const LOCKED_BACKOFF: Duration = Duration::from_millis(10);

/// What to write back for one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// The new states of its gates, the text of a JSON object.
    pub gates: String,
    /// Recent activity as of `recent_at`, with what was taken.
    pub recent: f64,
    /// Never before the stored one.
    pub recent_at: DateTime<Utc>,
    /// When to look again.
    pub due: Due,
    /// The instant past which neither a finished job nor a new one may bring the next look forward; `None` is no such instant.
    pub eligible_at: Option<DateTime<Utc>>,
    /// Whether it got nothing because the budget ran out.
    pub starved: bool,
    /// Why jobs still wait, if something holds them.
    pub denial: Option<Denial>,
    /// Its state under weighted fairness, the text of a JSON object; `None` without.
    pub share: Option<String>,
}

/// When to look at a partition again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// When a job comes; nothing waits.
    Idle,
    /// In its turn; something waits and may go.
    Now,
    /// Not before this instant, unless an event makes it earlier.
    At(DateTime<Utc>),
}

impl TickPlan {
    /// What to write back, partition by partition, when `taken[i]` jobs of the partition of `looks[i]` were really taken.
    /// A count that is not there is zero.
    pub fn settle(&self, taken: &[u32]) -> Vec<Settlement> {
        let counts = taken.iter().copied().chain(std::iter::repeat(0));
        let looks = self.looks.iter().zip(counts);
        let mut settlements: Vec<Settlement> =
            looks.map(|(look, taken)| self.settle_one(look, taken)).collect();
        if let Some(offers) = &self.offers {
            for (settlement, partition) in settlements.iter_mut().zip(offers.settle(taken).partitions) {
                settlement.share = serde_json::to_string(&partition.state).ok();
            }
        }
        settlements
    }

    fn settle_one(&self, look: &Look, taken: u32) -> Settlement {
        let (now, seen) = (self.now, &look.seen);
        let states = look.decision.settle(u64::from(taken), now);
        let pending = seen.pending.max(0).saturating_sub(i64::from(taken)).max(0);
        let facts = Facts {
            context: &seen.context,
            pending,
            in_flight: seen.in_flight.saturating_add(i64::from(taken)),
        };
        // After nothing was taken the gates would only repeat themselves.
        let again = (taken > 0)
            .then(|| decide(seen.overridden.as_ref().unwrap_or(&self.policy), &facts, &states, now));
        let next = again.as_ref().unwrap_or(&look.decision);
        let starved = look.is_starved();
        let (due, denial) = if pending == 0 {
            (Due::Idle, None)
        } else if look.held && taken == 0 {
            let until = look.denial.as_ref().map(|denial| denial.until).filter(|until| *until > now);
            (until.map_or(Due::Now, Due::At), look.denial.clone())
        } else if next.denial.is_some() {
            (Due::At(next.due), next.denial.clone())
        } else if taken < look.take {
            (Due::At(later(now, LOCKED_BACKOFF)), None)
        } else {
            (Due::Now, None)
        };
        // Where an override ends earlier, other limits are to be asked then.
        let before_end = |at: DateTime<Utc>| seen.next_end.map_or(at, |end| at.min(end));
        let due = match due {
            Due::At(at) => Due::At(before_end(at)),
            other => other,
        };
        Settlement {
            gates: states.to_json(),
            recent: seen.recent + f64::from(taken),
            recent_at: seen.recent_at.max(now),
            due,
            eligible_at: next.eligible_at.map(before_end),
            starved: starved && taken == 0,
            denial,
            share: None,
        }
    }
}
