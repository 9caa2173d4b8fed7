use chrono::{DateTime, Utc};

use super::{PassReport, Ticker};
use crate::error::{DatabaseError, Doing};
use crate::sql::scope;
use crate::sweep::Swept;

/// For tests: one step at a time, at a time of the test's choice.
impl Ticker {
    /// Folds in what was staged and finished, then ticks every due lane of what it serves once, by the given clock (a
    /// [`FakeClock`](crate::testing::FakeClock), an instant) or, for `None`, by the database's.
    ///
    /// # Errors
    /// When the database does not answer. A lane whose queue is not ready, or whose closures are missing, is left alone and said in the log.
    pub async fn tick_once(
        &mut self,
        clock: impl Into<Option<DateTime<Utc>>>,
    ) -> Result<PassReport, DatabaseError> {
        let mut conn = self.pool.acquire().await.doing("connecting")?;
        self.pass(&mut conn, clock.into(), None).await
    }

    /// Runs every sweep once, by the given clock or, for `None`, by the database's. It knows this ticker's own queues.
    ///
    /// # Errors
    /// When the database does not answer; what was repaired before stays so.
    pub async fn sweep_once(
        &mut self,
        clock: impl Into<Option<DateTime<Utc>>>,
    ) -> Result<Swept, DatabaseError> {
        let mut conn = self.pool.acquire().await.doing("connecting")?;
        scope(self.settings.pooled, self.sweeper.run(&mut conn, &self.settings, clock.into())).await
    }
}
