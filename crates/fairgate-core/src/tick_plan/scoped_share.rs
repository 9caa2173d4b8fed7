//! Handing out what the scopes have.

use chrono::{DateTime, Utc};

use super::scoped::{Fate, Place, ScopePlan, Scopes, assess};
use super::{Claimed, Limits, Look};
use crate::gate::{Assessment, Gate};
use crate::policy::{Fairness, Policy};
use crate::reason::DenyReason;
use crate::verdict::{Denial, Verdict, WakeEvent};

/// Lowers the allowances of the looks to what their scopes have.
pub(super) fn share(
    policy: &Policy,
    claimed: &[Claimed],
    looks: &mut [Look],
    scopes: Scopes,
    limits: &Limits,
    now: DateTime<Utc>,
) -> ScopePlan {
    let assessments = assess(policy, &scopes, now);
    let asked = Asked { policy, scopes: &scopes, assessments: &assessments, now };
    let left = (0..assessments.len())
        .map(|at| if asked.is_shared_by_weight(at) { u64::MAX } else { asked.free(at) })
        .collect();
    let mut sharing = Sharing { asked, left };
    let asks: Vec<bool> = (looks.iter().zip(claimed).zip(&scopes.places))
        .map(|((look, partition), place)| {
            let behind = place.scopes.as_deref().and_then(|of| sharing.asked.queue(of, place.woken));
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
    asked: Asked<'a>,
    left: Vec<u64>,
}

impl Sharing<'_> {
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
        self.asked.note(look, of);
        if let Some(at) = self.asked.queue(of, place.woken) {
            look.decision.allowance = 0;
            look.denial = Some(self.asked.denial(at));
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
        let queued = of.iter().filter(empty).find(|at| !self.asked.is_policy_wide(**at)).copied();
        if take == want {
            return Fate::Free;
        }
        if take == 0 {
            look.denial = of.iter().find(empty).map(|&at| self.asked.denial(at));
        }
        match queued {
            Some(at) => Fate::Ran(at),
            None if take == 0 => Fate::Left,
            None => Fate::Free,
        }
    }
}

/// The scopes with their answers.
pub(super) struct Asked<'a> {
    pub(super) policy: &'a Policy,
    pub(super) scopes: &'a Scopes,
    pub(super) assessments: &'a [Assessment],
    pub(super) now: DateTime<Utc>,
}

impl Asked<'_> {
    fn gate(&self, at: usize) -> &Gate {
        &self.policy.gates()[self.scopes.held[at].gate]
    }

    fn is_policy_wide(&self, at: usize) -> bool {
        self.gate(at).is_policy_wide()
    }

    /// The policy's own scope, where weights share what it has.
    pub(super) fn is_shared_by_weight(&self, at: usize) -> bool {
        self.is_policy_wide(at) && matches!(self.policy.fairness(), Fairness::Weighted { .. })
    }

    /// What it lets go. A shadow gate limits nothing.
    pub(super) fn free(&self, at: usize) -> u64 {
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

    /// Writes the scopes' caps beside the partition's own, and what shadow gates would have denied.
    pub(super) fn note(&self, look: &mut Look, of: &[usize]) {
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
    pub(super) fn denial(&self, at: usize) -> Denial {
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
