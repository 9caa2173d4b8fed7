//! Gates of a coarser scope than the partition: what the scopes that a tick holds leave to its partitions.
//!
//! A partition's own gates are asked first; one that they hold asks no scope and waits for none. What a scope has is handed out in claim
//! order, to all scopes of a partition at once, in equal parts of what is left, so that the sum never exceeds what is free. Of a weighted policy
//! the policy's own scopes are not parted so: what they have is one more bound of the tick, which the weights share.

use chrono::{DateTime, Utc};

use super::scoped_share::Asked;
use super::{Limits, Look};
use crate::context::Context;
use crate::gate::{Assessment, Facts};
use crate::pipeline::GateStates;
use crate::policy::Policy;
use crate::verdict::Denial;

/// The scopes that a tick holds locked, and which of them every claimed partition counts towards.
#[derive(Debug, Clone, Default)]
pub struct Scopes {
    /// The scopes.
    pub held: Vec<HeldScope>,
    /// One place for each claimed partition, in claim order.
    pub places: Vec<Place>,
}

/// Everything about a scope that a decision needs.
#[derive(Debug, Clone)]
pub struct HeldScope {
    /// Which gate of the policy it belongs to.
    pub gate: usize,
    /// The newest context of all its partitions: the gate's numbers come from it.
    pub context: Context,
    /// Jobs in flight that hold one of its slots.
    pub in_flight: i64,
    /// The stored state of its gate, the text of a JSON object as a partition's.
    pub states: Option<String>,
    /// Whether partitions wait for it.
    pub waited: bool,
    /// Partitions that were woken for it and have not been looked at since.
    pub woken: i64,
}

/// What a claimed partition counts towards.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its scopes, as indices of [`Scopes::held`], in declared order of the gates; `None`: not all of them are held.
    pub scopes: Option<Vec<usize>>,
    /// Whether it was woken for a slot, so that it need not stand behind those that wait.
    pub woken: bool,
    /// Since when it waits.
    pub since: DateTime<Utc>,
}

/// What the scopes make of one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The scopes do not hold it.
    Free,
    /// It stays due and is not written: its scopes are not held, or the policy's own is used up.
    Left,
    /// It took, or would have taken, the last of this scope.
    Ran(usize),
    /// Others wait for this scope already.
    Behind(usize),
}

/// The scopes of a planned tick.
#[derive(Debug, Clone)]
pub(super) struct ScopePlan {
    pub(super) scopes: Scopes,
    pub(super) assessments: Vec<Assessment>,
    pub(super) fates: Vec<Fate>,
    /// What each look got, before the budget was shared.
    pub(super) granted: Vec<u64>,
}

/// A scope's answer at this instant. It does not know who asks, so it takes it that much waits.
pub fn assess_scope(policy: &Policy, scope: &HeldScope, now: DateTime<Utc>) -> Assessment {
    let gate = &policy.gates()[scope.gate];
    let states = GateStates::parse(scope.states.as_deref());
    let facts = Facts { context: &scope.context, pending: i64::MAX, in_flight: scope.in_flight };
    gate.assess_scope(&facts, states.get(gate.name()), now)
}

impl ScopePlan {
    /// The scopes of a forced admission: asked, for what they will say, and charged, whatever they say.
    pub(super) fn forced(policy: &Policy, looks: &mut [Look], scopes: Scopes, now: DateTime<Utc>) -> Self {
        let assessments = assess(policy, &scopes, now);
        let asked = Asked { policy, scopes: &scopes, assessments: &assessments, now };
        for (look, place) in looks.iter_mut().zip(&scopes.places) {
            asked.note(look, place.scopes.as_deref().unwrap_or_default());
        }
        let (fates, granted) = (vec![Fate::Free; looks.len()], vec![0; looks.len()]);
        Self { assessments, fates, granted, scopes }
    }

    /// The limits of a tick with what the policy's own scopes have, which weights share, and what to say of those that get none of it.
    pub(super) fn narrow(
        &self,
        policy: &Policy,
        limits: &Limits,
        now: DateTime<Utc>,
    ) -> (Limits, Option<Denial>) {
        let asked = Asked { policy, scopes: &self.scopes, assessments: &self.assessments, now };
        let room = limits.queue_room.map_or(u64::MAX, u64::from);
        let shared = (0..self.assessments.len()).filter(|&at| asked.is_shared_by_weight(at));
        let least = shared.map(|at| (asked.free(at), at)).min().filter(|(free, _)| *free < room);
        let Some((free, at)) = least else { return (*limits, None) };
        let queue_room = Some(u32::try_from(free).unwrap_or(u32::MAX));
        (Limits { queue_room, ..*limits }, Some(asked.denial(at)))
    }
}

/// The answers of all scopes.
pub(super) fn assess(policy: &Policy, scopes: &Scopes, now: DateTime<Utc>) -> Vec<Assessment> {
    scopes.held.iter().map(|scope| assess_scope(policy, scope, now)).collect()
}
