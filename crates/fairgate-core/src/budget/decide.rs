//! Whether one request may go.

use chrono::{DateTime, Utc};

use super::AFTER_RESET;
use super::class::{Lane, Plan};
use super::window::{Block, BlockReason, Change, Ledger, Receipt};
use crate::time::later;

/// Whether a member may spend what other members leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Borrow {
    /// Only its own guarantee.
    #[default]
    No,
    /// The caller knows that no other member has work that could go now.
    OthersHaveNoWork,
}

/// A wish to send one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ask {
    lane: Lane,
    borrow: Borrow,
}

/// Why a wish makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// There is nobody to borrow from.
    #[error("class {class:?} is not divided, so nothing can be borrowed in it; ask without borrowing")]
    NothingToBorrow {
        /// The class.
        class: String,
    },
}

impl Ask {
    /// A wish on this account.
    ///
    /// # Errors
    /// When it would borrow in a class that is not divided.
    pub fn new(plan: &Plan, lane: Lane, borrow: Borrow) -> Result<Self, AskError> {
        if borrow == Borrow::OthersHaveNoWork && lane.member.is_none() {
            return Err(AskError::NothingToBorrow { class: plan.class(lane).name.clone() });
        }
        Ok(Self { lane, borrow })
    }

    /// Its account.
    #[must_use]
    pub fn lane(self) -> Lane {
        self.lane
    }

    /// Whether it may borrow.
    #[must_use]
    pub fn borrow(self) -> Borrow {
        self.borrow
    }
}

/// Why a request may not go. The variants are in the order in which they are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DenialReason {
    /// Nothing may be sent at all.
    GloballyBlocked,
    /// The server has not told of this window, and the class may not be the first.
    WindowUninitialized,
    /// What remains is the reserve.
    ReserveReached,
    /// The class has spent its allowance.
    ClassExhausted,
    /// The member has spent its guarantee, and may not borrow.
    ShareExhausted,
}

impl DenialReason {
    /// Its code, which never changes.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::GloballyBlocked => "globally_blocked",
            Self::WindowUninitialized => "window_uninitialized",
            Self::ReserveReached => "reserve_reached",
            Self::ClassExhausted => "class_exhausted",
            Self::ShareExhausted => "share_exhausted",
        }
    }
}

/// A request may not go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Denial {
    /// The first reason that applies.
    pub reason: DenialReason,
    /// When it stops to apply, if that is known.
    pub until: Option<DateTime<Utc>>,
}

/// A request may go: once the ledger is written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a debit counts when its ledger is written"]
pub struct Debit {
    /// The ledger with the request counted.
    pub ledger: Ledger,
    /// What the sender brings back with the answer.
    pub receipt: Receipt,
    /// What is new.
    pub changes: Vec<Change>,
}

/// Decides about one request at `now`. The checks come in the order of [`DenialReason`].
///
/// # Errors
/// When it may not go; the ledger stays as it is.
pub fn decide(plan: &Plan, ledger: &Ledger, ask: Ask, now: DateTime<Utc>) -> Result<Debit, Denial> {
    let before = ledger.window.number;
    let mut ledger = ledger.at(plan, now);
    check(plan, &ledger, ask, now)?;
    let mut changes = Vec::new();
    if let Some(over) = ledger.block.take() {
        changes.push(Change::BlockCleared(over));
    }
    let window = &mut ledger.window;
    if window.number != before {
        changes.push(Change::WindowRolled);
    }
    window.open(plan, now);
    window.used[ask.lane.slot] += 1;
    window.remaining = window.remaining.map(|remaining| remaining.saturating_sub(1));
    let limit = window.limit_or_planned(plan);
    let class = plan.class(ask.lane);
    if window.class_used(plan, ask.lane) == plan.allowance(ask.lane, limit) {
        changes.push(Change::ClassExhausted { class: class.name.clone() });
    }
    if let Some(member) = ask.lane.member
        && window.used[ask.lane.slot] == plan.guarantee(ask.lane, limit)
    {
        changes.push(Change::ShareExhausted { member: class.members[member].name.clone() });
    }
    let receipt = Receipt { lane: ask.lane, window: window.number };
    block_when_spent(plan, &mut ledger, &mut changes);
    Ok(Debit { ledger, receipt, changes })
}

/// Blocks until the reset when nothing, or only the reserve, remains.
pub(super) fn block_when_spent(plan: &Plan, ledger: &mut Ledger, changes: &mut Vec<Change>) {
    let (Some(remaining), Some(reset)) = (ledger.window.remaining, ledger.window.reset_at) else { return };
    let reason = match remaining {
        0 => BlockReason::NothingRemains,
        left if left <= plan.reserve => BlockReason::ReserveReached,
        _ => return,
    };
    ledger.block(Block { until: later(reset, AFTER_RESET), reason }, changes);
}

fn check(plan: &Plan, ledger: &Ledger, ask: Ask, now: DateTime<Utc>) -> Result<(), Denial> {
    let window = &ledger.window;
    let deny = |reason, until| Err(Denial { reason, until });
    let end = window.ends_at(plan);
    if let Some(block) = ledger.blocked_at(now) {
        return deny(DenialReason::GloballyBlocked, Some(block.until));
    }
    if !window.is_initialized() && !plan.may_open(ask.lane) {
        return deny(DenialReason::WindowUninitialized, None);
    }
    if window.remaining.is_some_and(|remaining| remaining <= plan.reserve) {
        return deny(DenialReason::ReserveReached, end);
    }
    let limit = window.limit_or_planned(plan);
    if window.class_used(plan, ask.lane) >= plan.allowance(ask.lane, limit) {
        return deny(DenialReason::ClassExhausted, end);
    }
    let inside = window.used[ask.lane.slot] < plan.guarantee(ask.lane, limit);
    if !inside && ask.borrow == Borrow::No {
        return deny(DenialReason::ShareExhausted, end);
    }
    Ok(())
}
