//! What to write back about scopes after the jobs were really taken.

use std::borrow::Cow;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::scoped::{Fate, HeldScope, assess_scope};
use super::{Due, Settlement, TickPlan};
use crate::gate::Assessment;
use crate::pipeline::GateStates;
use crate::policy::Policy;
use crate::time::later;
use crate::verdict::Verdict;

/// How long those who were woken for a scope have before others are.
pub const WOKEN_HAVE: Duration = Duration::from_millis(50);

/// What to write back about scopes.
#[derive(Debug, Clone, Default)]
pub struct ScopeSettlements {
    /// Scope by scope, in the order of [`Scopes::held`](super::Scopes::held); `None`: nothing happened to it.
    pub scopes: Vec<Option<ScopeSettlement>>,
    /// Partition by partition, in claim order.
    pub places: Vec<PlaceSettlement>,
}

/// What to write back for one scope.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopeSettlement {
    /// Jobs taken by its partitions together.
    pub taken: u64,
    /// Of these, those that hold a slot of it.
    pub slots: u64,
    /// The new state of its gate.
    pub states: String,
    /// Whether partitions wait for it.
    pub waited: bool,
    /// Partitions that were woken for it and have not been looked at.
    pub woken: i64,
    /// When to wake those that wait; `None`: nobody does.
    pub due_at: Option<DateTime<Utc>>,
}

/// What becomes of one claimed partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceSettlement {
    /// Settle it as without scopes.
    Settled,
    /// Write nothing of it; it stays due.
    Left,
    /// It waits for this scope, an index of [`Scopes::held`](super::Scopes::held), since then, and is not due.
    Parked(usize, DateTime<Utc>),
}

impl ScopeSettlements {
    /// What is written of a tick: the partitions that are not left as they were.
    pub fn written<'a, Id: Clone>(
        &self,
        ids: &'a [Id],
        taken: &'a [u32],
        settlements: Vec<Settlement>,
    ) -> (Cow<'a, [Id]>, Cow<'a, [u32]>, Vec<Settlement>) {
        if !self.places.contains(&PlaceSettlement::Left) {
            return (Cow::Borrowed(ids), Cow::Borrowed(taken), settlements);
        }
        let stays = |at: &usize| self.places.get(*at) != Some(&PlaceSettlement::Left);
        let places: Vec<usize> = (0..ids.len()).filter(stays).collect();
        let (ids, taken) = (places.iter().map(|&at| ids[at].clone()), places.iter().map(|&at| taken[at]));
        let (ids, taken) = (ids.collect(), taken.collect());
        (ids, taken, places.iter().map(|&at| settlements[at].clone()).collect())
    }
}

impl TickPlan {
    /// What to write back about scopes, and for the partitions that wait for one, in place of what `settlements` say.
    pub fn settle_scopes(&self, taken: &[u32], settlements: &mut [Settlement]) -> ScopeSettlements {
        let Some(plan) = &self.scoped else { return ScopeSettlements::default() };
        let got = |at: usize| u64::from(taken.get(at).copied().unwrap_or(0));
        let mut places = Vec::with_capacity(settlements.len());
        for (at, settlement) in settlements.iter_mut().enumerate() {
            let (fate, place) = (plan.fates[at], &plan.scopes.places[at]);
            places.push(match fate {
                Fate::Left => PlaceSettlement::Left,
                Fate::Ran(scope) | Fate::Behind(scope)
                    if settlement.due == Due::Now && got(at) == plan.granted[at] =>
                {
                    settlement.due = Due::Idle;
                    settlement.denial = self.looks[at].denial.clone();
                    let since = if got(at) == 0 { place.since } else { self.now };
                    PlaceSettlement::Parked(scope, since)
                }
                Fate::Free | Fate::Ran(_) | Fate::Behind(_) => PlaceSettlement::Settled,
            });
        }
        let mut tallies = vec![Tally::default(); plan.scopes.held.len()];
        for (at, place) in plan.scopes.places.iter().enumerate() {
            if places[at] == PlaceSettlement::Left {
                continue;
            }
            for &scope in place.scopes.iter().flatten() {
                tallies[scope].taken += got(at);
                tallies[scope].looked += i64::from(place.woken);
            }
            if let PlaceSettlement::Parked(scope, _) = places[at] {
                tallies[scope].parked = true;
            }
        }
        let scopes = tallies.iter().enumerate().map(|(at, tally)| self.settle_scope(at, tally)).collect();
        ScopeSettlements { scopes, places }
    }

    fn settle_scope(&self, at: usize, tally: &Tally) -> Option<ScopeSettlement> {
        let plan = self.scoped.as_ref()?;
        let held = &plan.scopes.held[at];
        if tally.taken == 0 && !tally.parked && (tally.looked == 0 || !held.waited) {
            return None;
        }
        let gate = &self.policy.gates()[held.gate];
        let slots = if gate.holds_slots() { tally.taken } else { 0 };
        let states = settled_states(&self.policy, held.gate, &plan.assessments[at], tally.taken, self.now);
        let after = HeldScope {
            in_flight: held.in_flight.saturating_add(i64::try_from(slots).unwrap_or(i64::MAX)),
            states: Some(states.clone()),
            waited: held.waited || tally.parked,
            woken: held.woken.saturating_sub(tally.looked).max(0),
            ..held.clone()
        };
        let due_at = after.waited.then(|| match assess_scope(&self.policy, &after, self.now).verdict {
            Verdict::Admit(_) if after.woken > 0 => later(self.now, WOKEN_HAVE),
            Verdict::Admit(_) => self.now,
            Verdict::Deny(denial) => denial.until,
        });
        let (waited, woken) = (after.waited, after.woken);
        Some(ScopeSettlement { taken: tally.taken, slots, states, waited, woken, due_at })
    }
}

/// The state of a scope after `taken` jobs, as it is stored. `gate`: which of the policy's gates was assessed.
pub fn settled_states(
    policy: &Policy,
    gate: usize,
    assessed: &Assessment,
    taken: u64,
    now: DateTime<Utc>,
) -> String {
    let state = assessed.settle(taken, now).map(|state| (policy.gates()[gate].name().clone(), state));
    state.into_iter().collect::<GateStates>().to_json()
}

/// What a tick did to one scope.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    taken: u64,
    looked: i64,
    parked: bool,
}
