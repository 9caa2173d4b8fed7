use std::time::Duration;

use sqlx::postgres::PgListener;
use sqlx::{PgConnection, PgPool};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::sql::Unit;

/// Sleeping and being woken. While `asleep` stands in the database, stagers and finishers notify; awake tickers cost them nothing.
#[derive(Debug)]
pub(super) struct Rest {
    id: Uuid,
    pool: PgPool,
    serves: String,
    listen: bool,
    listener: Option<PgListener>,
    asleep: bool,
    dozes: u32,
    said_at: Option<std::time::Instant>,
}

/// How long a row of a ticker stays fresh without being written again.
const FRESH: Duration = Duration::from_secs(20);

/// Short looks around after work, before a ticker tells everybody that it sleeps: under load the next finish is a moment away.
const DOZES: u32 = 5;
/// How long each of them waits.
const DOZE: Duration = Duration::from_millis(2);

impl Rest {
    pub(super) fn new(id: Uuid, pool: PgPool, serves: String, listen: bool) -> Self {
        Self { id, pool, serves, listen, listener: None, asleep: false, dozes: 0, said_at: None }
    }

    /// Says that this ticker works.
    pub(super) async fn awake(&mut self, conn: &mut PgConnection) -> Result<(), DatabaseError> {
        self.dozes = DOZES;
        if self.asleep || self.stale() {
            self.write(conn, false).await?;
        }
        Ok(())
    }

    /// The pause before another look, while this ticker has worked a moment ago and tells nobody yet that it sleeps.
    pub(super) fn doze(&mut self) -> Option<Duration> {
        if self.asleep || self.dozes == 0 {
            return None;
        }
        self.dozes -= 1;
        Some(DOZE)
    }

    /// Says that this ticker is about to sleep, and listens before it says so. True: this is news, so look once more first.
    pub(super) async fn lie_down(&mut self, conn: &mut PgConnection) -> Result<bool, DatabaseError> {
        let mut news = self.listen && !self.asleep;
        if self.listen && self.listener.is_none() {
            self.listener = self.connect().await;
            news |= self.listener.is_some();
        }
        if news || self.stale() {
            self.write(conn, self.listen).await?;
        }
        Ok(news)
    }

    fn stale(&self) -> bool {
        self.said_at.is_none_or(|at| at.elapsed() > FRESH)
    }

    async fn write(&mut self, conn: &mut PgConnection, asleep: bool) -> Result<(), DatabaseError> {
        let mut unit = Unit::begin(conn).await?;
        crate::sql::query(include_str!("../../queries/ticker/set_asleep.sql"))
            .bind(self.id)
            .bind(asleep)
            .bind(&self.serves)
            .execute(&mut *unit)
            .await
            .doing("telling that a ticker rests")?;
        unit.end().await?;
        self.asleep = asleep;
        self.said_at = Some(std::time::Instant::now());
        Ok(())
    }

    /// Sleeps until a notification, `most` has passed, or `stop`.
    pub(super) async fn until_woken(&mut self, most: Duration, stop: &CancellationToken) {
        let Some(listener) = &mut self.listener else { return self.sleep(most, stop).await };
        let woken = tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(most) => return,
            woken = listener.recv() => woken,
        };
        match woken {
            Ok(_) => while listener.next_buffered().is_some() {},
            Err(error) => {
                tracing::debug!(error = %error, "the listening connection was lost; polling until there is another");
                self.listener = None;
                self.sleep(most, stop).await;
            }
        }
    }

    async fn connect(&self) -> Option<PgListener> {
        let mut listener = PgListener::connect_with(&self.pool).await.ok()?;
        listener.listen("fairgate").await.ok()?;
        Some(listener)
    }

    pub(super) async fn sleep(&self, pause: Duration, stop: &CancellationToken) {
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }

    /// Takes this ticker's row away; a row that stays is forgotten by the sweep.
    pub(super) async fn goodbye(&mut self) {
        self.listener = None;
        if let Ok(Err(error)) = tokio::time::timeout(Duration::from_secs(2), self.forget()).await {
            tracing::debug!(error = %error, "the ticker's row stays until the next sweep");
        }
    }

    async fn forget(&self) -> Result<(), DatabaseError> {
        const DOING: &str = "forgetting a ticker";
        let mut conn = self.pool.acquire().await.doing(DOING)?;
        let mut unit = Unit::begin(&mut conn).await?;
        let sql = include_str!("../../queries/ticker/goodbye.sql");
        crate::sql::query(sql).bind(self.id).execute(&mut *unit).await.doing(DOING)?;
        unit.end().await
    }
}
