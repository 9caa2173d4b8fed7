//! The reconcilers: each acts if and only if its first sentence holds, takes no input, and may run anywhere, at any time, twice.

mod inflight;
mod overrides;
mod partitions;
mod scopes;

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use sqlx::postgres::types::PgInterval;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::queue::Queue;
use crate::settings::Settings;
use crate::sql::Unit;
use partitions::Seen;

/// What one sweep repaired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Slots whose holder fell silent.
    pub silent: i64,
    /// Slots whose job the queue no longer has.
    pub gone: i64,
    /// Partitions marked for removal.
    pub marked: u64,
    /// Partitions removed.
    pub removed: i64,
    /// Scopes removed.
    pub scopes: u64,
    /// Tick samples removed.
    pub samples: u64,
    /// Overrides that ended, removed.
    pub overrides: u64,
}

/// Remembers where the last sweep stopped asking the queues, so that each sweep asks about other jobs.
#[derive(Debug, Default)]
pub struct Sweeper {
    places: HashMap<i32, Uuid>,
    queues: Vec<(String, Arc<dyn Queue>)>,
    partition_place: Uuid,
    scope_place: Uuid,
}

impl Sweeper {
    /// `queues`: adapters that cannot be built from what is registered, by queue name.
    #[must_use]
    pub fn new(queues: Vec<(String, Arc<dyn Queue>)>) -> Self {
        Self { places: HashMap::new(), queues, partition_place: Uuid::nil(), scope_place: Uuid::nil() }
    }

    /// Runs every sweep once. `now` is the database's own clock unless given.
    ///
    /// # Errors
    /// When the database does not answer; what was repaired before stays so.
    pub async fn run(
        &mut self,
        conn: &mut PgConnection,
        settings: &Settings,
        now: Option<DateTime<Utc>>,
    ) -> Result<Swept, DatabaseError> {
        let mut unit = Unit::begin(conn).await?;
        let silent = inflight::free_silent(&mut unit, settings, now).await?;
        unit.end().await?;
        let mut unit = Unit::begin(conn).await?;
        let gone = self.free_gone(&mut unit, settings, now).await?;
        unit.end().await?;
        let mut unit = Unit::begin(conn).await?;
        let overrides = overrides::forget(&mut unit, now).await?;
        unit.end().await?;
        let mut unit = Unit::begin(conn).await?;
        let removed = partitions::delete_marked(&mut unit, settings, now).await?;
        unit.end().await?;
        let mut unit = Unit::begin(conn).await?;
        let marked = partitions::mark(&mut unit, settings, now, &mut self.partition_place).await?;
        unit.end().await?;
        let mut unit = Unit::begin(conn).await?;
        let scopes = scopes::delete_idle(&mut unit, settings, now, &mut self.scope_place).await?;
        unit.end().await?;
        let mut unit = Unit::begin(conn).await?;
        let samples = delete_old_samples(&mut unit, settings, now).await?;
        let sql = include_str!("../queries/sweep/delete_lost_tickers.sql");
        crate::sql::query(sql).execute(&mut *unit).await.doing("forgetting lost tickers")?;
        let sql = include_str!("../queries/sweep/delete_old_tickets.sql");
        crate::sql::query(sql).bind(now).execute(&mut *unit).await.doing("deleting old tickets")?;
        unit.end().await?;
        Ok(Swept { silent, gone, marked, removed, scopes, samples, overrides })
    }
}

async fn delete_old_samples(
    conn: &mut PgConnection,
    settings: &Settings,
    now: Option<DateTime<Utc>>,
) -> Result<u64, DatabaseError> {
    let sql = include_str!("../queries/sweep/delete_old_samples.sql");
    let done = crate::sql::query(sql)
        .bind(interval(settings.metrics_retention))
        .bind(now)
        .execute(conn)
        .await
        .doing("deleting old samples")?;
    Ok(done.rows_affected())
}

pub(crate) fn interval(duration: std::time::Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX) }
}
