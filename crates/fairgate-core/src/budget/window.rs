//! The state of a budget, and how a window ends by itself.

use chrono::{DateTime, Utc};

use super::class::{Lane, Plan, Windows};
use super::{AFTER_RESET, SAME_WINDOW};
use crate::time::later;

/// All that is remembered of a budget.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// The window that is spent from.
    pub window: Window,
    /// Nothing may be sent before its end.
    pub block: Option<Block>,
    /// Secondary limits in a row. A clean answer ends it; a new window does not.
    pub secondary_streak: u32,
}

/// A window: until the server tells, its limit, what remains and its reset are unknown, which is neither zero nor now.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Window {
    /// Counts the windows of this ledger.
    pub number: u64,
    /// When the first request of this window was debited.
    pub opened_at: Option<DateTime<Utc>>,
    /// Requests that the server allows in it.
    pub limit: Option<u32>,
    /// Requests that are left: the least that the server and our own debits say.
    pub remaining: Option<u32>,
    /// When the server resets it.
    pub reset_at: Option<DateTime<Utc>>,
    /// When the window before was reset; an answer that tells of that one is late.
    pub previous_reset_at: Option<DateTime<Utc>>,
    /// Debits by lane.
    pub used: Vec<u32>,
}

/// Nothing at all may be sent for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block {
    /// Its end.
    pub until: DateTime<Utc>,
    /// Why.
    pub reason: BlockReason,
}

/// Why nothing may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockReason {
    /// The server says that nothing remains.
    NothingRemains,
    /// What remains is the reserve.
    ReserveReached,
    /// The server asked for a pause.
    SecondaryLimit,
}

impl BlockReason {
    /// Its code, which never changes.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NothingRemains => "nothing_remains",
            Self::ReserveReached => "reserve_reached",
            Self::SecondaryLimit => "secondary_limit",
        }
    }

    /// The reason of a code.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        [Self::NothingRemains, Self::ReserveReached, Self::SecondaryLimit]
            .into_iter()
            .find(|r| r.code() == code)
    }
}

/// What a debit leaves in the sender's hand: on which account, in which window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Receipt {
    /// The account.
    pub lane: Lane,
    /// [`Window::number`] at the debit.
    pub window: u64,
}

/// Something that operators want to read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The old window is over; of the new one nothing is known yet.
    WindowRolled,
    /// The server told of the window.
    WindowInitialized {
        /// Requests that it allows.
        limit: u32,
        /// Requests that are left.
        remaining: u32,
        /// Its end.
        reset_at: DateTime<Utc>,
    },
    /// A class has spent its allowance.
    ClassExhausted {
        /// Its name.
        class: String,
    },
    /// A member has spent its guarantee.
    ShareExhausted {
        /// Its name.
        member: String,
    },
    /// Nothing may be sent until then.
    Blocked(Block),
    /// A block is over, and something is sent again.
    BlockCleared(Block),
    /// Two windows are told of at once; the worse is believed.
    WindowsInterleave {
        /// The reset of ours.
        ours: DateTime<Utc>,
        /// The reset of the other.
        told: DateTime<Utc>,
    },
}

impl Ledger {
    /// A ledger of which nothing has been spent.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { window: Window::new(1, None, plan), block: None, secondary_streak: 0 }
    }

    /// The ledger as it is at `now`: a window that is over has given way to a new one, of which nothing is known.
    #[must_use]
    pub fn at(&self, plan: &Plan, now: DateTime<Utc>) -> Self {
        let mut ledger = self.clone();
        if ledger.window.ends_at(plan).is_some_and(|end| end <= now) {
            ledger.window = ledger.window.next(plan);
        }
        ledger
    }

    /// When everything is blocked at `now`: until when and why.
    #[must_use]
    pub fn blocked_at(&self, now: DateTime<Utc>) -> Option<Block> {
        self.block.filter(|block| block.until > now)
    }

    /// Blocks until `until`, unless a block lasts longer.
    pub(super) fn block(&mut self, block: Block, changes: &mut Vec<Change>) {
        if self.block.is_none_or(|old| old.until < block.until) {
            self.block = Some(block);
            changes.push(Change::Blocked(block));
        }
    }
}

impl Window {
    fn new(number: u64, previous_reset_at: Option<DateTime<Utc>>, plan: &Plan) -> Self {
        let used = vec![0; plan.lanes().count()];
        Self {
            number,
            opened_at: None,
            limit: None,
            remaining: None,
            reset_at: None,
            previous_reset_at,
            used,
        }
    }

    pub(super) fn next(&self, plan: &Plan) -> Self {
        Self::new(self.number + 1, self.reset_at.or(self.previous_reset_at), plan)
    }

    /// Whether the server has told of this window.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        self.reset_at.is_some()
    }

    /// When this window is over: a second after its reset. A server's window is not longer than the plan says, so one of which nothing was
    /// told is over by then. None: nothing was sent in it.
    #[must_use]
    pub fn ends_at(&self, plan: &Plan) -> Option<DateTime<Utc>> {
        let opened = self.opened_at.map(|opened| later(opened, plan.window_length()));
        self.reset_at.or(opened).map(|end| later(end, AFTER_RESET))
    }

    /// The limit that allowances are computed with.
    #[must_use]
    pub fn limit_or_planned(&self, plan: &Plan) -> u32 {
        self.limit.unwrap_or(plan.limit)
    }

    /// What the class of this lane has spent.
    #[must_use]
    pub fn class_used(&self, plan: &Plan, lane: Lane) -> u32 {
        let of_class = plan.lanes().filter(|(other, _, _)| other.class == lane.class);
        of_class.map(|(other, _, _)| self.used[other.slot]).fold(0, u32::saturating_add)
    }

    pub(super) fn is_reset(&self, told: DateTime<Utc>) -> bool {
        self.reset_at.is_some_and(|ours| near(ours, told))
    }

    pub(super) fn open(&mut self, plan: &Plan, now: DateTime<Utc>) {
        self.opened_at.get_or_insert(now);
        if let (Windows::Fixed(length), None) = (plan.windows, self.reset_at) {
            self.limit = Some(plan.limit);
            self.remaining = Some(plan.limit);
            self.reset_at = Some(later(now, length));
        }
    }
}

/// Whether two resets are one.
pub(super) fn near(one: DateTime<Utc>, other: DateTime<Utc>) -> bool {
    one.signed_duration_since(other).abs().to_std().is_ok_and(|apart| apart <= SAME_WINDOW)
}
