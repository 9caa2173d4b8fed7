//! Gates of a coarser scope than the partition: what the scopes that a tick holds leave to its partitions.
//!
//! A partition's own gates are asked first; one that they hold asks no scope and waits for none. What a scope has is handed out in claim
//! order, to all scopes of a partition at once, in equal parts of what is left, so that the sum never exceeds what is free.

use chrono::{DateTime, Utc};

use super::{Claimed, Limits, Look};
use crate::context::Context;
use crate::gate::{Assessment, Facts, Gate};
use crate::pipeline::GateStates;
use crate::policy::Policy;
use crate::reason::DenyReason;
use crate::verdict::{Denial, Verdict, WakeEvent};

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

/// Lowers the allowances of the looks to what their scopes have.
pub(super) fn share(
    policy: &Policy,
    claimed: &[Claimed],
    looks: &mut [Look],
    scopes: Scopes,
    limits: &Limits,
    now: DateTime<Utc>,
) -> ScopePlan {
    let assessments: Vec<Assessment> =
        scopes.held.iter().map(|scope| assess_scope(policy, scope, now)).collect();
    let mut sharing = Sharing { policy, scopes: &scopes, assessments: &assessments, left: Vec::new(), now };
    sharing.left = (0..assessments.len()).map(|at| sharing.free(at)).collect();
    let asks: Vec<bool> = (looks.iter().zip(claimed).zip(&scopes.places))
        .map(|((look, partition), place)| {
            let behind = place.scopes.as_deref().and_then(|of| sharing.queue(of, place.woken));
            partition.pending > 0 && look.decision.allowance > 0 && behind.is_none()
        })
        .collect();
    let mut claimants = vec![0u64; assessments.len()];
    for (_, place) in asks.iter().zip(&scopes.places).filter(|(asks, _)| **asks) {
        place.scopes.iter().flatten().for_each(|&at| claimants[at] += 1);
    }
    let mut plan = (Vec::with_capacity(looks.len()), Vec::with_capacity(looks.len()));
    for ((look, place), asks) in looks.iter_mut().zip(&scopes.places).zip(asks) {
        let fate = sharing.one(look, place, limits, asks.then_some(&mut claimants));
        plan.0.push(fate);
        plan.1.push(look.decision.allowance);
    }
    let (fates, granted) = plan;
    ScopePlan { assessments, fates, granted, scopes }
}

/// What is left of the scopes while it is handed out.
struct Sharing<'a> {
    policy: &'a Policy,
    scopes: &'a Scopes,
    assessments: &'a [Assessment],
    left: Vec<u64>,
    now: DateTime<Utc>,
}

impl Sharing<'_> {
    fn gate(&self, at: usize) -> &Gate {
        &self.policy.gates()[self.scopes.held[at].gate]
    }

    fn is_policy_wide(&self, at: usize) -> bool {
        self.gate(at).is_policy_wide()
    }

    /// A shadow gate limits nothing.
    fn free(&self, at: usize) -> u64 {
        match &self.assessments[at].verdict {
            _ if self.assessments[at].shadow => u64::MAX,
            Verdict::Admit(allowance) => allowance.get(),
            Verdict::Deny(_) => 0,
        }
    }

    /// The first scope that others wait for, unless it is this partition's turn.
    fn queue(&self, of: &[usize], woken: bool) -> Option<usize> {
        let waited = |&&at: &&usize| self.scopes.held[at].waited && !self.assessments[at].shadow;
        of.iter().find(waited).copied().filter(|_| !woken)
    }

    fn one(
        &mut self,
        look: &mut Look,
        place: &Place,
        limits: &Limits,
        claimants: Option<&mut Vec<u64>>,
    ) -> Fate {
        if look.seen.pending <= 0 || look.decision.allowance == 0 {
            return Fate::Free;
        }
        let Some(of) = &place.scopes else {
            look.decision.allowance = 0;
            return Fate::Left;
        };
        self.note(look, of);
        if let Some(at) = self.queue(of, place.woken) {
            look.decision.allowance = 0;
            look.denial = Some(self.denial(at));
            return Fate::Behind(at);
        }
        let want = look.demand(limits);
        let mut take = want;
        let Some(claimants) = claimants else { return Fate::Free };
        for &at in of {
            let part = (self.left[at] / claimants[at].max(1)).max(1);
            take = take.min(part).min(self.left[at]);
        }
        for &at in of {
            claimants[at] = claimants[at].saturating_sub(1);
            if self.left[at] < u64::MAX {
                self.left[at] -= take;
            }
        }
        look.decision.allowance = look.decision.allowance.min(take);
        let empty = |at: &&usize| self.left[**at] == 0;
        let queued = of.iter().filter(empty).find(|at| !self.is_policy_wide(**at)).copied();
        if take == want {
            return Fate::Free;
        }
        if take == 0 {
            look.denial = of.iter().find(empty).map(|&at| self.denial(at));
        }
        match queued {
            Some(at) => Fate::Ran(at),
            None if take == 0 => Fate::Left,
            None => Fate::Free,
        }
    }

    /// Writes the scopes' caps beside the partition's own, and what shadow gates would have denied.
    fn note(&self, look: &mut Look, of: &[usize]) {
        for &at in of {
            let (assessment, name) = (&self.assessments[at], self.gate(at).name());
            match (&assessment.verdict, assessment.limit) {
                (Verdict::Deny(denial), _) if assessment.shadow => {
                    look.decision.shadow_denials.push(denial.clone());
                }
                (_, Some(limit)) if !assessment.shadow => {
                    look.decision.limits.insert(name.clone(), limit);
                }
                _ => {}
            }
        }
        look.limits = look.decision.limits_json();
    }

    /// Why a partition waits for a scope: what the scope itself says, or that what it had goes to others.
    fn denial(&self, at: usize) -> Denial {
        if let Verdict::Deny(denial) = &self.assessments[at].verdict {
            return denial.clone();
        }
        let gate = self.gate(at);
        let reason = if gate.holds_slots() { DenyReason::ConcurrencyFull } else { DenyReason::RateLimited };
        Denial {
            gate: Some(gate.name().clone()),
            event: Some(WakeEvent::Finish),
            ..Denial::new(reason, self.now)
        }
    }
}
