//! The state of a source.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate::budget::Ledger;
use sqlx::PgConnection;

use crate::config::Config;
use crate::error::{Doing, FeedError};
use crate::plan;
use crate::schedule::Schedule;

/// The one source.
pub const EVENTS: &str = "events";

/// What is remembered of it.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Source {
    /// Why it is out of service until an operator acts.
    pub out_of_service: Option<String>,
    /// The validator of the first page.
    pub etag: Option<String>,
    /// When the last run ended.
    pub last_finished_at: Option<DateTime<Utc>>,
    /// When the last run that worked ended.
    pub last_succeeded_at: Option<DateTime<Utc>>,
    /// The server's interval.
    pub floor_seconds: Option<i32>,
    /// Until when that holds polls up.
    pub floor_until: Option<DateTime<Utc>>,
    /// Failures in a row.
    pub failures: i32,
    /// Until when they hold polls up.
    pub backoff_until: Option<DateTime<Utc>>,
}

impl Source {
    /// Reads it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read(conn: &mut PgConnection) -> Result<Self, FeedError> {
        sqlx::query_as(include_str!("../../queries/ingest/read_source.sql"))
            .bind(EVENTS)
            .fetch_one(conn)
            .await
            .doing("reading the source")
    }

    pub(super) async fn write(&self, conn: &mut PgConnection) -> Result<(), FeedError> {
        sqlx::query(include_str!("../../queries/ingest/write_source.sql"))
            .bind(EVENTS)
            .bind(&self.out_of_service)
            .bind(&self.etag)
            .bind(self.last_finished_at)
            .bind(self.last_succeeded_at)
            .bind(self.floor_seconds)
            .bind(self.floor_until)
            .bind(self.failures)
            .bind(self.backoff_until)
            .execute(conn)
            .await
            .doing("writing the source")?;
        Ok(())
    }

    /// When a poll is due.
    #[must_use]
    pub fn schedule(&self, config: &Config, ledger: &Ledger) -> Schedule {
        let lane = plan::poll_lane(&config.plan);
        let window = &ledger.window;
        let limit = window.limit_or_planned(&config.plan);
        let spent = window.class_used(&config.plan, lane) >= config.plan.allowance(lane, limit);
        Schedule {
            cadence: self.last_finished_at.map(|last| last + config.cadence),
            floor: self.floor_until,
            backoff: self.backoff_until,
            global_block: ledger.block.map(|block| block.until),
            poll_block: if spent { window.ends_at(&config.plan) } else { None },
        }
    }

    /// The server answered at `at`: its interval counts from then; the last one, if it told none.
    pub(super) fn answered(&mut self, told: Option<u32>, at: DateTime<Utc>) {
        self.floor_seconds =
            told.map(|seconds| i32::try_from(seconds).unwrap_or(i32::MAX)).or(self.floor_seconds);
        self.floor_until =
            self.floor_seconds.map(|seconds| at + Duration::from_secs(seconds.unsigned_abs().into()));
    }

    /// One more failure in a row: 60 s, doubling to an hour; `jitter` makes it up to a tenth longer.
    pub(super) fn failed(&mut self, at: DateTime<Utc>, retry_after: Option<Duration>, jitter: u8) {
        self.failures = self.failures.saturating_add(1);
        let wait = backoff(self.failures.unsigned_abs());
        let wait = wait + wait * u32::from(jitter) / 2560;
        let wait = wait.max(retry_after.unwrap_or_default().min(LONGEST));
        self.delayed(at + wait);
    }

    /// Holds polls up until then at least.
    pub(super) fn delayed(&mut self, until: DateTime<Utc>) {
        self.backoff_until = self.backoff_until.max(Some(until));
    }
}

const LONGEST: Duration = Duration::from_secs(3600);

/// 60 s doubling with each failure in a row to 3,600 s.
#[must_use]
pub fn backoff(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (Duration::from_secs(60) * 2_u32.pow(doublings)).min(LONGEST)
}
