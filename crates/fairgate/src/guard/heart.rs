use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fairgate_core::id::AdmissionId;
use sqlx::postgres::PgConnectOptions;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::report::{Call, Reporter};
use super::{Guard, Slot};
use crate::error::DatabaseError;
use crate::settings::Settings;
use crate::sql::{Unit, scope};

/// How long a job waits for the report of its start or end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Beats for all guards of a process, on one connection of its own. It lives until it and all its guards are gone.
#[derive(Debug)]
pub struct Heart {
    calls: mpsc::UnboundedSender<Call>,
    numbers: AtomicU64,
    patience: Duration,
    task: JoinHandle<()>,
}

/// Why a heart did not start.
#[derive(Debug, thiserror::Error)]
pub enum HeartError {
    /// Settings that make no sense.
    #[error("{key} {problem}")]
    Settings {
        /// The key.
        key: &'static str,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The schema is missing or older than this program.
    #[error(
        "schema fairgate is missing or older than this program; run \"fairgate migrate\" (or fairgate::migrate) first"
    )]
    NotMigrated,
    /// The database did not answer. Once a heart beats, faults of the database are waited out.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl Heart {
    /// Connects to the database at `options` (a pool's `connect_options()`, or a URL, parsed), and beats every `heartbeat_interval` of the settings, 30 s unless changed.
    ///
    /// Behind a pooler in transaction mode set `pooled`: every report is then a short transaction of its own, and nothing stays prepared.
    ///
    /// # Errors
    /// See [`HeartError`].
    pub async fn start(options: PgConnectOptions, settings: &Settings) -> Result<Self, HeartError> {
        let wrong = |(key, _): &(&str, String)| matches!(*key, "heartbeat_interval" | "inflight_stale_after");
        if let Some((key, problem)) = settings.problems().into_iter().find(wrong) {
            return Err(HeartError::Settings { key, problem });
        }
        let every = settings.heartbeat_interval;
        let mut reporter = Reporter::new(options.application_name("fairgate guard"), every);
        let migrated = scope(settings.pooled, async {
            let mut unit = Unit::begin(reporter.connection().await?).await?;
            let migrated = crate::migrate::is_migrated(&mut unit).await?;
            unit.end().await?;
            Ok::<bool, DatabaseError>(migrated)
        });
        if !migrated.await? {
            return Err(HeartError::NotMigrated);
        }
        let (calls, inbox) = mpsc::unbounded_channel();
        let task = tokio::spawn(scope(settings.pooled, reporter.run(inbox)));
        Ok(Self { calls, numbers: AtomicU64::new(0), patience: PATIENCE, task })
    }

    /// How long a job waits for the database to take the report of its start, and of its end; 5 s unless changed. After that it goes on, and so does the heart.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Reports that the job of this admission begins, which is the first beat, and holds its slot from here on.
    ///
    /// Returns once the database has taken it, or the [patience](Self::patience) is over. An admission
    /// that has ended, or is none, gives a guard that [lost its slot](Guard::lost_slot) and changes nothing.
    pub async fn guard(&self, admission: AdmissionId) -> Guard {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let slot = Arc::new(Slot::default());
        let (reply, answer) = oneshot::channel();
        let guard = Guard {
            number,
            admission,
            slot: slot.clone(),
            calls: self.calls.clone(),
            patience: self.patience,
            ended: false,
        };
        let call = Call::Start { number, admission: admission.as_uuid(), slot, reply };
        // A heart whose runtime is gone beats no longer; the job runs all the same.
        if self.calls.send(call).is_ok() {
            let _ = tokio::time::timeout(self.patience, answer).await;
        }
        guard
    }

    /// Waits until every guard has ended and its report is with the database, at most 10 s where that does not answer. Call it when the worker stops.
    pub async fn close(self) {
        drop(self.calls);
        // An error here is a runtime that shuts down.
        let _ = self.task.await;
    }
}
