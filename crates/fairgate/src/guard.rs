//! Workers of queues whose tables do not show what happens hold a [`Guard`] while a job runs.
//!
//! A [`Heart`] has one connection of its own, taken from no pool: however busy the worker's pool is, the slots of its jobs go on beating. All guards of a
//! process beat together, in one statement every `heartbeat_interval`. A worker whose process is gone falls silent, and the [`sweep`](crate::sweep)
//! frees its slots after `inflight_stale_after`.
//!
//! ```no_run
//! # async fn deliver() -> Result<(), String> { Ok(()) }
//! # async fn example(pool: sqlx::PgPool, admission_id: fairgate::AdmissionId) -> Result<(), Box<dyn std::error::Error>> {
//! use fairgate::{Settings, guard::Heart};
//!
//! let heart = Heart::start(pool.connect_options().as_ref().clone(), &Settings::default()).await?;
//! // For each job that the queue gives to this worker:
//! let guard = heart.guard(admission_id).await;
//! guard.run(deliver()).await?;
//! // When the worker stops:
//! heart.close().await;
//! # Ok(()) }
//! ```
//!
//! # Where the admission id comes from
//! From the queue's own row of the job: an adapter puts it there ([`Queue::enqueue`](crate::queue::Queue::enqueue)) as the relation `taken` gives it.
//!
//! | queue | admission id |
//! |---|---|
//! | Graphile Worker | `flags -> 'fairgate' ->> 'a'`; its triggers report everything, no guard is needed |
//! | [`testing::TableQueue`](crate::testing::TableQueue) | column `admission_id` |
//! | an adapter of your own | where its `enqueue` puts `taken.admission_id` |
//!
//! A job that was sent while fairgate was disabled has none, and needs no guard.
//!
//! A queue whose workers hold guards is registered as [`queue::Guarded`](crate::queue::Guarded), so that policies that need starts and ends may use it.

mod heart;
mod report;
mod tell;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use fairgate_core::id::AdmissionId;
use tokio::sync::{mpsc, oneshot};

pub use crate::track::End;
pub use heart::{Heart, HeartError};
use report::{Call, Ending};

/// What became of the report of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// It changed something: the slot is free, or held for the next attempt.
    Done,
    /// The slot had been freed before: by another end, or by the sweep. Nothing changed.
    Gone,
    /// The database has not answered yet. The heart goes on trying in the background; if its process ends first, the sweep frees the slot.
    Later,
}

/// Holds the slot of a job while it runs. Dropping it without an end reports `failed`, in the background: a panic in the job, or its cancellation,
/// frees the slot.
#[derive(Debug)]
#[must_use = "dropping a guard reports that its job failed"]
pub struct Guard {
    number: u64,
    admission: AdmissionId,
    slot: Arc<Slot>,
    calls: mpsc::UnboundedSender<Call>,
    patience: Duration,
    ended: bool,
}

/// What the last beat found.
#[derive(Debug, Default)]
struct Slot(AtomicU8);

impl Slot {
    const HELD: u8 = 1;
    const GONE: u8 = 2;

    fn set(&self, state: u8) {
        self.0.store(state, Ordering::Relaxed);
    }

    fn is(&self, state: u8) -> bool {
        self.0.load(Ordering::Relaxed) == state
    }
}

impl Guard {
    /// The admission whose slot this holds.
    #[must_use]
    pub fn admission(&self) -> AdmissionId {
        self.admission
    }

    /// Whether the last beat found the slot. False also while the database has not answered yet.
    #[must_use]
    pub fn holds_slot(&self) -> bool {
        self.slot.is(Slot::HELD)
    }

    /// Whether a beat found the slot gone: ended by somebody else, or freed by the sweep after a long silence. Another job may have its place now.
    #[must_use]
    pub fn lost_slot(&self) -> bool {
        self.slot.is(Slot::GONE)
    }

    /// The job has ended. Returns once the database has taken it, or the heart's [patience](Heart::patience) is over.
    pub async fn finish(mut self, end: End) -> Reported {
        self.end(Ending::Finished(end)).await
    }

    /// The attempt has failed, and the queue will run the job again by itself, under the same admission: its slot is held until then, as that of a job that waits in the queue.
    pub async fn retried(mut self) -> Reported {
        self.end(Ending::Retried).await
    }

    /// Runs the job and reports how it ended: `Ok` is a success, `Err` a failure, and a panic or a cancellation a failure too. What it returns is the job's own
    /// result, whatever the database says to the report.
    ///
    /// # Errors
    /// The job's own.
    pub async fn run<T, E>(self, job: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let result = job.await;
        let end = if result.is_ok() { End::Success } else { End::Failed };
        self.finish(end).await;
        result
    }

    async fn end(&mut self, ending: Ending) -> Reported {
        let (reply, answer) = oneshot::channel();
        self.send(ending, Some(reply));
        match tokio::time::timeout(self.patience, answer).await {
            Ok(Ok(reported)) => reported,
            Ok(Err(_)) | Err(_) => Reported::Later,
        }
    }

    fn send(&mut self, ending: Ending, reply: Option<oneshot::Sender<Reported>>) {
        self.ended = true;
        let call = Call::End { number: self.number, admission: self.admission.as_uuid(), ending, reply };
        // A heart that is gone takes no report; the sweep frees the slot.
        let _ = self.calls.send(call);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.ended {
            self.send(Ending::Finished(End::Failed), None);
        }
    }
}
