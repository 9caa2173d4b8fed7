//! Folds what stagers, finishers and cancellers reported into the counters. Each window is one statement and one transaction, so a ticker that
//! freezes here blocks nobody, and a partition whose row is locked does not hold up the rows behind it.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::sql::{Unit, query_as, query_scalar};

/// Reports read in one window.
const WINDOW: i32 = 5_000;
/// Windows in one call; what is left then waits for the next.
const WINDOWS: usize = 6;
/// Calls after which [`absorb_all`] has folded in any backlog that there may have been.
const CALLS: usize = 1_000;

/// What one call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Absorbed {
    /// Scheduled jobs whose time had come.
    pub promoted: i64,
    /// Reports folded in.
    pub folded: i64,
    /// There was more than one call takes.
    pub more: bool,
    /// Some policy has gates of a coarser scope than the partition.
    pub scoped: bool,
}

/// Promotes what has come due and absorbs what was reported. `now` is the database's own clock unless given.
///
/// # Errors
/// When the database does not answer.
pub async fn absorb(conn: &mut PgConnection, now: Option<DateTime<Utc>>) -> Result<Absorbed, DatabaseError> {
    let mut unit = Unit::begin(conn).await?;
    let promoted = promote(&mut unit, now).await?;
    unit.end().await?;
    let mut done = Absorbed { promoted, more: promoted >= i64::from(WINDOW), ..Absorbed::default() };
    let mut avoid: Vec<Uuid> = Vec::new();
    for _ in 0..WINDOWS {
        let mut unit = Unit::begin(conn).await?;
        let (seen, folded, passed_over, scoped) = absorb_window(&mut unit, &avoid, now).await?;
        unit.end().await?;
        done.folded += folded;
        done.scoped |= scoped;
        if seen < i64::from(WINDOW) {
            return absorb_scopes(conn, now, done).await;
        }
        avoid.extend(passed_over);
    }
    done.more = true;
    absorb_scopes(conn, now, done).await
}

/// The same of the reports about scopes, which the windows before may have brought; nothing where no policy has any.
async fn absorb_scopes(
    conn: &mut PgConnection,
    now: Option<DateTime<Utc>>,
    mut done: Absorbed,
) -> Result<Absorbed, DatabaseError> {
    let sql = include_str!("../queries/scopes/absorb_scopes.sql");
    let mut avoid: Vec<Uuid> = Vec::new();
    for _ in 0..if done.scoped { WINDOWS } else { 0 } {
        let mut unit = Unit::begin(conn).await?;
        let (seen, folded, passed_over): (i64, i64, Vec<Uuid>) = query_as(sql)
            .bind(WINDOW)
            .bind(&avoid)
            .bind(now)
            .fetch_one(&mut *unit)
            .await
            .doing("absorbing reports of scopes")?;
        unit.end().await?;
        done.folded += folded;
        if seen < i64::from(WINDOW) {
            return Ok(done);
        }
        avoid.extend(passed_over);
    }
    done.more |= done.scoped;
    Ok(done)
}

/// Absorbs until nothing is left of what was reported before, or others report as fast as this folds in.
pub(crate) async fn absorb_all(conn: &mut PgConnection) -> Result<(), DatabaseError> {
    for _ in 0..CALLS {
        if !absorb(conn, None).await?.more {
            break;
        }
    }
    Ok(())
}

/// Rows seen and folded in, and the partitions that were passed over.
async fn absorb_window(
    conn: &mut PgConnection,
    avoid: &[Uuid],
    now: Option<DateTime<Utc>>,
) -> Result<(i64, i64, Vec<Uuid>, bool), DatabaseError> {
    let sql = include_str!("../queries/absorb/absorb.sql");
    query_as(sql).bind(WINDOW).bind(avoid).bind(now).fetch_one(conn).await.doing("absorbing reports")
}

async fn promote(conn: &mut PgConnection, now: Option<DateTime<Utc>>) -> Result<i64, DatabaseError> {
    let sql = include_str!("../queries/absorb/promote.sql");
    query_scalar(sql).bind(WINDOW).bind(now).fetch_one(conn).await.doing("promoting scheduled jobs")
}
