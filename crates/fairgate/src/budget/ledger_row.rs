//! A ledger as rows.

use chrono::{DateTime, Utc};
use fairgate_core::budget::{Block, BlockReason, Ledger, Plan, Window};
use sqlx::PgConnection;

use crate::error::{DatabaseError, Doing};
use crate::sql::{query, query_as};

/// `fairgate.budget` without its name.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Row {
    window_number: i64,
    opened_at: Option<DateTime<Utc>>,
    request_limit: Option<i32>,
    remaining: Option<i32>,
    reset_at: Option<DateTime<Utc>>,
    previous_reset_at: Option<DateTime<Utc>>,
    blocked_until: Option<DateTime<Utc>>,
    block_reason: Option<String>,
    secondary_streak: i32,
}

/// Classes and members of a plan, side by side.
pub(super) struct Lanes {
    pub(super) classes: Vec<String>,
    pub(super) members: Vec<String>,
}

impl Lanes {
    pub(super) fn of(plan: &Plan) -> Self {
        let (classes, members) = plan
            .lanes()
            .map(|(_, class, member)| (class.to_owned(), member.unwrap_or("").to_owned()))
            .unzip();
        Self { classes, members }
    }
}

impl Row {
    /// What a CHECK of the table forbids cannot be read.
    pub(super) fn ledger(self, used: Vec<i32>) -> Ledger {
        let reason = self.block_reason.as_deref().and_then(BlockReason::from_code);
        let window = Window {
            number: self.window_number.unsigned_abs(),
            opened_at: self.opened_at,
            limit: self.request_limit.map(i32::unsigned_abs),
            remaining: self.remaining.map(i32::unsigned_abs),
            reset_at: self.reset_at,
            previous_reset_at: self.previous_reset_at,
            used: used.into_iter().map(i32::unsigned_abs).collect(),
        };
        Ledger {
            window,
            block: self.blocked_until.zip(reason).map(|(until, reason)| Block { until, reason }),
            secondary_streak: self.secondary_streak.unsigned_abs(),
        }
    }
}

/// What each account has used, in order, and what time it is.
pub(super) async fn read_use(
    conn: &mut PgConnection,
    budget: &str,
    plan: &Plan,
    now: Option<DateTime<Utc>>,
) -> Result<(Vec<i32>, DateTime<Utc>), DatabaseError> {
    let lanes = Lanes::of(plan);
    let rows: Vec<(i32, DateTime<Utc>)> = query_as(include_str!("../../queries/budget/read_use.sql"))
        .bind(budget)
        .bind(&lanes.classes)
        .bind(&lanes.members)
        .bind(now)
        .fetch_all(conn)
        .await
        .doing("reading a budget's use")?;
    let now = rows.first().map(|row| row.1).unwrap_or_default();
    Ok((rows.into_iter().map(|row| row.0).collect(), now))
}

/// Writes all of it. Only who holds the row's lock may.
pub(super) async fn write(
    conn: &mut PgConnection,
    budget: &str,
    plan: &Plan,
    ledger: &Ledger,
) -> Result<(), DatabaseError> {
    let lanes = Lanes::of(plan);
    let window = &ledger.window;
    let used: Vec<i32> = window.used.iter().copied().map(clamp).collect();
    query(include_str!("../../queries/budget/write_window.sql"))
        .bind(budget)
        .bind(i64::try_from(window.number).unwrap_or(i64::MAX))
        .bind(window.opened_at)
        .bind(window.limit.map(clamp))
        .bind(window.remaining.map(clamp))
        .bind(window.reset_at)
        .bind(window.previous_reset_at)
        .bind(ledger.block.map(|block| block.until))
        .bind(ledger.block.map(|block| block.reason.code()))
        .bind(clamp(ledger.secondary_streak))
        .bind(&lanes.classes)
        .bind(&lanes.members)
        .bind(used)
        .execute(conn)
        .await
        .doing("writing a budget")?;
    Ok(())
}

/// Counts of requests are far below what the column holds; a limit that is not is as good as endless.
pub(super) fn clamp(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
