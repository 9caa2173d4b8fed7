use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::PgPool;

use crate::error::{DatabaseError, Doing};

/// A clock that stands still until it is advanced, for [`Ticker::tick_once`](crate::Ticker::tick_once) and [`Ticker::sweep_once`](crate::Ticker::sweep_once).
///
/// Everything that a tick or a sweep decides goes by it: throttles, retry times, recent activity, budgets, the coming of `run_at`, the age of slots and partitions.
///
/// What other transactions write goes by the database's own clock: the time of staging, of a start, a beat and an end. So begin at the database's time
/// ([`starting_now`](Self::starting_now)) or later, and say yourself how long a job waited for its worker and how long it ran
/// ([`TableQueue::start_with_lag`](super::TableQueue::start_with_lag), [`TableQueue::complete_after`](super::TableQueue::complete_after)).
/// [`Ticker::run`](crate::Ticker::run) takes no fake clock.
#[derive(Debug, Clone)]
pub struct FakeClock {
    now: DateTime<Utc>,
}

impl FakeClock {
    /// Stands at this instant.
    #[must_use]
    pub fn starting_at(now: DateTime<Utc>) -> Self {
        Self { now }
    }

    /// Stands at the database's time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn starting_now(pool: &PgPool) -> Result<Self, DatabaseError> {
        let sql = include_str!("../../queries/testing/database_time.sql");
        let now =
            crate::sql::query_scalar(sql).fetch_one(pool).await.doing("reading the database's clock")?;
        Ok(Self { now })
    }

    /// Goes forward by so much.
    ///
    /// # Panics
    /// When that is past the year 262,000.
    pub fn advance(&mut self, by: Duration) {
        let by = TimeDelta::from_std(by).expect("a time that a calendar has");
        self.now += by;
    }

    /// Where it stands.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }
}

impl From<&FakeClock> for Option<DateTime<Utc>> {
    fn from(clock: &FakeClock) -> Self {
        Some(clock.now)
    }
}
