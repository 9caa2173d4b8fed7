//! Whether a partition that its gates let go gets its turn: budgets and rooms in queues are shared.

use chrono::{DateTime, Utc};
use fairgate_core::fairness::everybody_gets_one;
use fairgate_core::policy::{Fairness, Policy};
use fairgate_core::pressure::{self, MaxWaiting};
use fairgate_core::reason::DenyReason;

use super::partition::{Event, Hold};
use super::read::Facts;

/// Who else wants what a tick may hand over.
#[derive(Debug, Clone, Default, sqlx::FromRow)]
pub(super) struct Rivals {
    /// When the other partitions of its lane are due, not before now; at most 1,001 of them.
    dues: Vec<DateTime<Utc>>,
    /// Other partitions of the policy with new jobs in reports that wait.
    told: i64,
    /// Lanes with something due that send to the same queue.
    lanes: i64,
    /// Tickers at work.
    awake: i64,
}

/// A queue's limit of jobs that no worker has begun, and how many there are.
struct Room {
    limit: u64,
    waiting: u64,
}

fn room(facts: &Facts) -> Option<Room> {
    let max = MaxWaiting::from_number(facts.max_waiting.map(i32::unsigned_abs));
    let limit = pressure::limit(max, facts.running.unsigned_abs().into(), facts.starts_per_second);
    let limit = limit.filter(|_| facts.shows_starts)?;
    Some(Room { limit, waiting: facts.queue_waiting.unsigned_abs() })
}

/// What the queue, or the sharing among partitions, left for others so far.
pub(super) fn past(facts: &Facts, policy: &Policy) -> Option<Hold> {
    if let Some(Room { limit, waiting }) = room(facts) {
        // A look of a weighted policy waits until there is room for some.
        let wanted = match policy.fairness() {
            Fairness::Weighted { .. } => (limit / 8).max(1),
            Fairness::Recent => 1,
        };
        if limit.saturating_sub(waiting) < wanted {
            let why = format!(
                "queue \"{}\" holds {waiting} jobs that no worker has begun, its limit is {limit}",
                facts.queue
            );
            return Some(Hold { event: Event::Workers, why });
        }
    }
    let reason = facts.denial.as_deref().and_then(DenyReason::from_code)?;
    let others =
        matches!(reason, DenyReason::TickCapExhausted | DenyReason::QueueFull | DenyReason::AheadOfShare);
    others.then(|| Hold { event: Event::Turn, why: format!("at its last look: {}", reason.label()) })
}

/// What the tick that may admit a job of it at `at` must share, if that may leave it nothing. Of a budget only the policy's own is known here, not
/// one of the tickers' `[engine]`.
pub(super) fn coming(facts: &Facts, policy: &Policy, at: DateTime<Utc>) -> Option<Hold> {
    let rivals = &facts.rivals;
    let others = rivals.dues.iter().filter(|due| **due <= at).count() as u64 + rivals.told.unsigned_abs();
    let budget = policy.settings().tick_admission_budget.map(u64::from);
    // A look gets a job while there is room, so more looks than room leave the last ones nothing.
    let room = room(facts).map(|Room { limit, waiting }| limit.saturating_sub(waiting));
    let looks = rivals.lanes.max(1).unsigned_abs().saturating_mul(rivals.awake.max(1).unsigned_abs());
    let queue = room.map(|room| room / looks);
    let jobs = budget.into_iter().chain(queue).min()?;
    let sure = match policy.fairness() {
        Fairness::Recent => everybody_gets_one(jobs, others.saturating_add(1)),
        Fairness::Weighted { .. } => others == 0 && jobs > 0,
    };
    if sure {
        return None;
    }
    let rivals = if others == 1 {
        "1 other partition is".to_owned()
    } else {
        format!("{others} other partitions are")
    };
    let why = match room {
        Some(room) if queue == Some(jobs) => {
            format!(
                "queue \"{}\" has room for {} more, lanes share it, and {rivals} due by then",
                facts.queue,
                count(room)
            )
        }
        _ => format!("a tick of this policy may admit {}, and {rivals} due by then", count(jobs)),
    };
    Some(Hold { event: Event::Turn, why })
}

fn count(jobs: u64) -> String {
    if jobs == 1 { "1 job".to_owned() } else { format!("{jobs} jobs") }
}
