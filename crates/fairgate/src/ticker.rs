//! The loop: absorb, tick every due lane once, rotate, sleep until something can change.

mod builder;
mod by_hand;
mod pass;
mod rest;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fairgate_core::fairness::weighted::LaneAdvance;
use fairgate_core::policy::Policy;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::queue::Queue;
use crate::settings::Settings;
use crate::sql::{Unit, scope};
use crate::sweep::Sweeper;

pub use builder::{BuildError, TickerBuilder};
pub use pass::PassReport;
use rest::Rest;

/// Serves policies until it is told to stop. Run as many as you like, anywhere: they share the work.
#[derive(Debug)]
pub struct Ticker {
    id: Uuid,
    pool: PgPool,
    settings: Settings,
    only_policy: Option<String>,
    only_shard: Option<String>,
    own_policies: Vec<Policy>,
    own_queues: Vec<(String, Arc<dyn Queue>)>,
    hooks: bool,
    rules: HashMap<i32, pass::Loaded>,
    sweeper: Sweeper,
    /// Where the rotation over lanes goes on.
    last_shard: i32,
    folded_since_vacuum: i64,
    /// What is still to be added to the virtual times of lanes.
    carried: HashMap<i32, LaneAdvance>,
    said: HashMap<String, String>,
}

/// Why a ticker ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The database could not be reached at the start. Later faults are waited out.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The schema is missing or older than this program.
    #[error(
        "schema fairgate is missing or older than this program; run \"fairgate migrate\" (or fairgate::migrate) first"
    )]
    NotMigrated,
}

impl Ticker {
    /// A ticker on this pool. It uses one connection at a time, and one more to listen.
    #[must_use]
    pub fn builder(pool: PgPool) -> TickerBuilder {
        TickerBuilder::new(pool)
    }

    /// Runs until `stop` is ready, then ends within one tick. Faults of the database are logged and waited out; nothing is lost by them.
    ///
    /// # Errors
    /// Only at the start: see [`RunError`].
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<(), RunError> {
        scope(self.settings.pooled, self.check_schema()).await?;
        let token = CancellationToken::new();
        let pooled = self.settings.pooled;
        let work = scope(pooled, self.work(&token));
        tokio::pin!(work, stop);
        tokio::select! {
            () = &mut work => {}
            () = &mut stop => {
                token.cancel();
                work.await;
            }
        }
        Ok(())
    }

    async fn check_schema(&self) -> Result<(), RunError> {
        let mut conn = self.pool.acquire().await.doing("connecting")?;
        let mut unit = Unit::begin(&mut conn).await?;
        let migrated = crate::migrate::is_migrated(&mut unit).await?;
        unit.end().await?;
        if migrated { Ok(()) } else { Err(RunError::NotMigrated) }
    }

    async fn work(&mut self, stop: &CancellationToken) {
        let mut rest = Rest::new(
            self.id,
            self.pool.clone(),
            self.serves(),
            self.settings.notifications && !self.settings.pooled,
        );
        let mut upkeep = Upkeep::default();
        let mut faults = 0;
        while !stop.is_cancelled() {
            let outcome = self.round(&mut rest, &mut upkeep, stop).await;
            match outcome {
                Ok(()) => faults = 0,
                Err(error) => {
                    faults += 1;
                    let pause = Duration::from_millis(100) * 2_u32.pow(faults.min(6));
                    tracing::warn!(error = %error, pause_ms = pause.as_millis(), "the database did not answer; nothing is lost, trying again");
                    rest.sleep(pause, stop).await;
                }
            }
        }
        rest.goodbye().await;
    }

    /// One pass, then the rest it has earned.
    async fn round(
        &mut self,
        rest: &mut Rest,
        upkeep: &mut Upkeep,
        stop: &CancellationToken,
    ) -> Result<(), DatabaseError> {
        let mut conn = self.pool.acquire().await.doing("connecting")?;
        let report = self.pass(&mut conn, None, Some(stop)).await?;
        self.upkeep(&mut conn, upkeep).await?;
        if report.busy {
            rest.awake(&mut conn).await?;
            drop(conn);
            if self.settings.busy_pause > Duration::ZERO {
                rest.sleep(self.settings.busy_pause, stop).await;
            }
            return Ok(());
        }
        if let Some(pause) = rest.doze() {
            drop(conn);
            rest.sleep(pause.min(report.wait), stop).await;
            return Ok(());
        }
        if rest.lie_down(&mut conn).await? {
            // Stagers see now that somebody sleeps; one more look, for those that committed a moment before.
            return Ok(());
        }
        drop(conn);
        rest.until_woken(report.wait.min(self.settings.idle_pause), stop).await;
        Ok(())
    }

    /// What runs on a timer: sweeps, queues that have appeared, totals, and the vacuum of the report table.
    async fn upkeep(&mut self, conn: &mut sqlx::PgConnection, due: &mut Upkeep) -> Result<(), DatabaseError> {
        if due.sweep.pass(self.settings.sweep_every) {
            let swept = self.sweeper.run(conn, &self.settings, None).await?;
            if swept.silent + swept.gone > 0 {
                tracing::warn!(
                    silent = swept.silent,
                    gone = swept.gone,
                    "freed slots of jobs that nobody finished"
                );
            }
        }
        if due.pressure.pass(Duration::from_secs(1)) {
            let mut unit = Unit::begin(conn).await?;
            crate::observe::gauge_queues(&mut unit).await?;
            unit.end().await?;
        }
        if due.queues.pass(Duration::from_secs(5)) {
            let mut unit = Unit::begin(conn).await?;
            let installed = crate::registry::install_missing(&mut unit, &self.own_queues, self.hooks).await?;
            unit.end().await?;
            for queue in installed {
                tracing::info!(queue, "the queue's tables have appeared; it is ready");
            }
            let mut unit = Unit::begin(conn).await?;
            crate::observe::gauge(&mut unit).await?;
            unit.end().await?;
        }
        if self.folded_since_vacuum > 20_000 && due.vacuum.pass(Duration::from_secs(3)) {
            self.folded_since_vacuum = 0;
            crate::observe::vacuum_reports(conn).await?;
        }
        Ok(())
    }

    fn serves(&self) -> String {
        match (&self.only_policy, &self.only_shard) {
            (None, _) => "every policy".to_owned(),
            (Some(policy), None) => format!("policy {policy}"),
            (Some(policy), Some(shard)) => format!("shard {shard} of policy {policy}"),
        }
    }
}

/// When each timed duty was last done. Hosts' clocks measure only pauses.
#[derive(Debug, Default)]
struct Upkeep {
    sweep: Timer,
    queues: Timer,
    pressure: Timer,
    vacuum: Timer,
}

#[derive(Debug, Default)]
struct Timer(Option<Instant>);

impl Timer {
    fn pass(&mut self, every: Duration) -> bool {
        let due = self.0.is_none_or(|last| last.elapsed() >= every);
        if due {
            self.0 = Some(Instant::now());
        }
        due
    }
}
