use chrono::{DateTime, Utc};

use super::scoped::{ScopePlan, Scopes};
use super::{Claimed, Limits, Look, TickPlan, look};
use crate::policy::Policy;

/// A plan that takes `counts[i]` jobs of `claimed[i]`, whatever the gates say. They are asked and charged all the same: a bucket goes into debt,
/// and the jobs count as in flight, in their scopes too. A count that is not there is zero.
pub fn forced(
    policy: &Policy,
    claimed: &[Claimed],
    counts: &[u32],
    scopes: Option<Scopes>,
    limits: &Limits,
    now: DateTime<Utc>,
) -> TickPlan {
    let counts = counts.iter().copied().chain(std::iter::repeat(0));
    let mut looks: Vec<Look> = (claimed.iter().zip(counts).zip(0..))
        .map(|((partition, take), rank)| Look {
            rank,
            take,
            denial: None,
            ..look(policy, partition, limits, now)
        })
        .collect();
    let scoped = scopes.map(|scopes| ScopePlan::forced(policy, &mut looks, scopes, now));
    let policy = policy.clone();
    TickPlan { now, looks, policy, offers: None, scoped }
}
