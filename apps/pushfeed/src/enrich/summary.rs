//! What enrichment may spend, and when it goes on.

use chrono::{DateTime, Utc};
use fairgate::budget::{Ask, Borrow, Denial, DenialReason, Lane, Ledger, Plan, decide};
use sqlx::PgConnection;

use super::Kind;
use super::pool::interval;
use crate::config::Config;
use crate::error::{Doing, FeedError};
use crate::plan;

/// When something can be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "when", content = "at")]
pub enum Next {
    /// Now.
    Now,
    /// Then.
    At(DateTime<Utc>),
    /// When a poll has told of the budget's window.
    AfterThePoll,
    /// Nothing is known that will ever be due.
    Never,
}

/// What an account has spent, and what it may spend without borrowing.
#[must_use]
pub fn share(plan: &Plan, ledger: &Ledger, lane: Lane) -> (u32, u32) {
    let window = &ledger.window;
    (window.used[lane.slot()], plan.guarantee(lane, window.limit_or_planned(plan)))
}

/// Why a request on this account may not go now.
#[must_use]
pub fn denial(
    plan: &Plan,
    ledger: &Ledger,
    lane: Lane,
    borrow: Borrow,
    now: DateTime<Utc>,
) -> Option<Denial> {
    let ask = Ask::new(plan, lane, borrow).ok()?;
    decide(plan, ledger, ask, now).err()
}

/// When the next entity can be claimed: of what was never enriched, else of what will no longer be fresh; not before a block of the budget ends.
/// A share that is spent delays nothing: borrowing may lift it.
///
/// # Errors
/// When the database does not answer.
pub async fn next(
    conn: &mut PgConnection,
    config: &Config,
    ledger: &Ledger,
    now: DateTime<Utc>,
) -> Result<Next, FeedError> {
    let due: Option<DateTime<Utc>> = sqlx::query_scalar(include_str!("../../queries/enrich/next_due.sql"))
        .bind(interval(config.eligible_for))
        .bind(interval(config.actor_ttl))
        .bind(interval(config.repository_ttl))
        .fetch_one(conn)
        .await
        .doing("looking for the next candidate")?;
    Ok(due.map_or(Next::Never, |due| after_blocks(config, ledger, due, now)))
}

fn after_blocks(config: &Config, ledger: &Ledger, due: DateTime<Utc>, now: DateTime<Utc>) -> Next {
    let plan = &config.plan;
    let lane = plan::lane(plan, Kind::Actor);
    match denial(plan, ledger, lane, Borrow::OthersHaveNoWork, now) {
        Some(Denial { reason: DenialReason::WindowUninitialized, .. }) => Next::AfterThePoll,
        Some(Denial { until: Some(until), .. }) => Next::At(due.max(until)),
        _ if due <= now => Next::Now,
        _ => Next::At(due),
    }
}
