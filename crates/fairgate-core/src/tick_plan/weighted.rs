//! A tick of a policy with weighted fairness: virtual starts say how much each look may take.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{Claimed, Limits, Look};
use crate::fairness::weighted::{Entrant, LaneState, LaneTotals, Offer, Offers, Room, offers};
use crate::policy::{Fairness, Policy};
use crate::reason::DenyReason;
use crate::time::later;
use crate::verdict::{BadNumber, Denial, WakeEvent};

/// When a partition whose weight cannot be used is looked at again.
const BAD_WEIGHT_BACKOFF: Duration = Duration::from_secs(60);
/// When a partition is looked at again, at the latest, that has its first jobs of unknown length in flight.
const UNKNOWN_BACKOFF: Duration = Duration::from_secs(1);

/// What a tick of a weighted policy knows of its lane, read without a lock before its claim. The default is a new lane.
#[derive(Debug, Clone, Default)]
pub struct Lane {
    /// Its stored state.
    pub state: LaneState,
    /// All partitions that are due, where [`LaneState::wants_totals`] asked for them.
    pub totals: Option<LaneTotals>,
}

/// Fixes what every look takes; `None` when the policy goes by recent activity.
pub(super) fn share_out(
    policy: &Policy,
    claimed: &[Claimed],
    looks: &mut [Look],
    limits: &Limits,
    lane: &Lane,
    now: DateTime<Utc>,
) -> Option<Offers> {
    let Fairness::Weighted { cost, weight } = policy.fairness() else { return None };
    let entrants: Vec<Entrant> = claimed
        .iter()
        .zip(&mut *looks)
        .map(|(partition, look)| {
            let (weight, allowance) = match weight.resolve(&partition.context) {
                Ok(weight) => (weight, look.decision.allowance),
                Err(problem) => {
                    let denial = Denial::new(DenyReason::BadParameter, later(now, BAD_WEIGHT_BACKOFF));
                    let bad = Some(BadNumber { parameter: "weight", problem });
                    look.hold(Denial { event: Some(WakeEvent::ContextChange), bad, ..denial });
                    (1.0, 0)
                }
            };
            Entrant {
                state: partition
                    .share
                    .as_deref()
                    .and_then(|text| serde_json::from_str(text).ok())
                    .unwrap_or_default(),
                weight,
                waiting: partition.pending.max(0).unsigned_abs(),
                allowance,
                in_flight: partition.in_flight.max(0).unsigned_abs(),
                correction: partition.correction,
                finished: partition.finished,
            }
        })
        .collect();
    let room = Room {
        budget: limits.tick_admission_budget,
        queue: limits.queue_room,
        admission_batch_size: limits.admission_batch_size,
    };
    let offers = offers(*cost, &lane.state, lane.totals, &entrants, &room);
    let left_out = limits.most().map_or(DenyReason::TickCapExhausted, |(_, reason)| reason);
    for (rank, (look, offer)) in looks.iter_mut().zip(offers.each()).enumerate() {
        look.rank = u32::try_from(rank).unwrap_or(u32::MAX);
        look.take = offer.jobs;
        if let Some(denial) = denial(offer, left_out, now)
            && look.denial.is_none()
            && look.seen.pending > 0
        {
            look.hold(denial);
        }
    }
    Some(offers)
}

/// Why an offer is none, if its gates would have let something go.
fn denial(offer: &Offer, left_out: DenyReason, now: DateTime<Utc>) -> Option<Denial> {
    if offer.jobs > 0 {
        None
    } else if offer.unknown {
        let denial = Denial::new(DenyReason::LengthUnknown, later(now, UNKNOWN_BACKOFF));
        Some(Denial { event: Some(WakeEvent::Finish), ..denial })
    } else if offer.ahead {
        Some(Denial::new(DenyReason::AheadOfShare, now))
    } else if offer.no_room {
        Some(Denial::new(left_out, now))
    } else {
        None
    }
}
