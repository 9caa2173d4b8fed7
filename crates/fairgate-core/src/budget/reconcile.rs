//! Folding an answer into the ledger: only what the server proved.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::class::Plan;
use super::decide::block_when_spent;
use super::window::{Block, BlockReason, Change, Ledger, Receipt, Window, near};
use super::{AFTER_RESET, SECONDARY_BLOCK};
use crate::time::later;

/// What the server told of a budget. All three numbers came together, or there is nothing to believe.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LimitHeaders {
    /// Which budget; None: the server did not say, and there is only one.
    pub resource: Option<String>,
    /// Requests in a window.
    pub limit: u32,
    /// Requests that are left.
    pub remaining: u32,
    /// When the window is reset.
    pub reset_at: DateTime<Utc>,
}

/// What an answer means for the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The server did what was asked.
    Clean,
    /// It did, and does not count the request: the debit is reversed.
    Free,
    /// The window is spent.
    PrimaryLimit,
    /// The server asks for a pause, of this length if it said one.
    SecondaryLimit(Option<Duration>),
    /// It says nothing about limits: failures, time-outs, refusals of another kind.
    Unrelated,
}

/// An answer, or the lack of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Answer {
    /// The limit headers, if they were whole.
    pub headers: Option<LimitHeaders>,
    /// What it means.
    pub verdict: Verdict,
}

/// The ledger after an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "an answer counts when its ledger is written"]
pub struct Reconciled {
    /// The ledger.
    pub ledger: Ledger,
    /// What is new.
    pub changes: Vec<Change>,
}

/// Folds one answer in at `now`.
///
/// Within a window `remaining = least(ours, told)`. A later reset opens a new window only when the old one is over; the request whose answer proves that
/// is counted in the new one. Of two windows that are told of at once the worse is believed. Blocks only move later.
pub fn reconcile(
    plan: &Plan,
    ledger: &Ledger,
    receipt: Receipt,
    answer: &Answer,
    now: DateTime<Utc>,
) -> Reconciled {
    reconcile_beside(plan, ledger, &[], receipt, answer, now).0
}

/// Folds one answer in where the server has other budgets `beside` this one for the same caller. A secondary limit is the caller's, not the budget's: its
/// pause blocks the others too, and limits in a row are counted over all. Returns the others as they are afterwards, in their order.
pub fn reconcile_beside(
    plan: &Plan,
    ledger: &Ledger,
    beside: &[Ledger],
    receipt: Receipt,
    answer: &Answer,
    now: DateTime<Utc>,
) -> (Reconciled, Vec<Ledger>) {
    let (mut ledger, mut beside) = (ledger.clone(), beside.to_vec());
    let mut changes = Vec::new();
    let free = answer.verdict == Verdict::Free;
    if free && receipt.window == ledger.window.number {
        reverse(&mut ledger.window, receipt);
    }
    if let Some(headers) = answer.headers.as_ref().filter(|headers| believable(plan, headers, now)) {
        observe(plan, &mut ledger, headers, (!free).then_some(receipt), now, &mut changes);
        block_when_spent(plan, &mut ledger, &mut changes);
    }
    match answer.verdict {
        Verdict::Clean | Verdict::Free => {
            ledger.secondary_streak = 0;
            beside.iter_mut().for_each(|other| other.secondary_streak = 0);
        }
        Verdict::SecondaryLimit(told) => {
            let streak = beside.iter().fold(ledger.secondary_streak, |most, o| most.max(o.secondary_streak));
            let streak = streak.saturating_add(1);
            let until = later(now, pause(told, streak));
            let block = Block { until, reason: BlockReason::SecondaryLimit };
            ledger.secondary_streak = streak;
            ledger.block(block, &mut changes);
            for other in &mut beside {
                other.secondary_streak = streak;
                // It is one block; one line tells of it.
                other.block(block, &mut Vec::new());
            }
        }
        Verdict::PrimaryLimit | Verdict::Unrelated => {}
    }
    (Reconciled { ledger, changes }, beside)
}

/// How long to pause: what the server said within bounds, or 60 s doubling with each in a row.
fn pause(told: Option<Duration>, streak: u32) -> Duration {
    let (shortest, longest) = SECONDARY_BLOCK;
    let doubled = shortest.saturating_mul(2_u32.saturating_pow(streak.saturating_sub(1).min(16)));
    told.unwrap_or(doubled).clamp(shortest, longest)
}

/// Of this budget, and of a window that can be: not over, and not longer than twice what the plan says.
fn believable(plan: &Plan, headers: &LimitHeaders, now: DateTime<Utc>) -> bool {
    let ours = headers.resource.as_ref().is_none_or(|resource| *resource == plan.resource);
    let furthest = later(now, plan.window_length().saturating_mul(2));
    ours && headers.reset_at <= furthest && later(headers.reset_at, AFTER_RESET) > now
}

fn observe(
    plan: &Plan,
    ledger: &mut Ledger,
    headers: &LimitHeaders,
    receipt: Option<Receipt>,
    now: DateTime<Utc>,
    changes: &mut Vec<Change>,
) {
    let window = &mut ledger.window;
    let Some(ours) = window.reset_at else {
        // An answer that tells of the window before is late.
        if window
            .previous_reset_at
            .is_some_and(|previous| headers.reset_at <= previous || near(previous, headers.reset_at))
        {
            return;
        }
        carry(window, receipt);
        initialize(window, headers, changes);
        return;
    };
    if window.is_reset(headers.reset_at) {
        carry(window, receipt);
        window.reset_at = Some(ours.max(headers.reset_at));
        window.remaining = Some(worse(window.remaining, headers.remaining));
    } else if headers.reset_at > ours && window.ends_at(plan).is_some_and(|end| end <= now) {
        *window = window.next(plan);
        changes.push(Change::WindowRolled);
        window.opened_at = Some(now);
        carry(window, receipt);
        initialize(window, headers, changes);
    } else {
        changes.push(Change::WindowsInterleave { ours, told: headers.reset_at });
        if window.remaining.is_none_or(|remaining| headers.remaining < remaining) {
            window.remaining = Some(headers.remaining);
            window.limit = Some(window.limit.map_or(headers.limit, |limit| limit.min(headers.limit)));
            window.reset_at = Some(ours.max(headers.reset_at));
        }
    }
}

fn initialize(window: &mut Window, headers: &LimitHeaders, changes: &mut Vec<Change>) {
    window.limit = Some(headers.limit);
    window.remaining = Some(worse(window.remaining, headers.remaining));
    window.reset_at = Some(headers.reset_at);
    changes.push(Change::WindowInitialized {
        limit: headers.limit,
        remaining: headers.remaining,
        reset_at: headers.reset_at,
    });
}

/// Counts a request in this window that was debited in an earlier one.
fn carry(window: &mut Window, receipt: Option<Receipt>) {
    if let Some(receipt) = receipt.filter(|receipt| receipt.window != window.number) {
        window.used[receipt.lane.slot] += 1;
    }
}

fn reverse(window: &mut Window, receipt: Receipt) {
    let used = &mut window.used[receipt.lane.slot];
    *used = used.saturating_sub(1);
    let limit = window.limit;
    window.remaining = window.remaining.map(|left| limit.map_or(left + 1, |limit| (left + 1).min(limit)));
}

fn worse(ours: Option<u32>, told: u32) -> u32 {
    ours.map_or(told, |ours| ours.min(told))
}
