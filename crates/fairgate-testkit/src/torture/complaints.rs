//! What went wrong, collected from everybody who noticed something.

use std::fmt;
use std::sync::Mutex;

/// What a run can find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// More in flight than the limit in force in that transaction.
    OverLimit,
    /// Admitted under a limit that was not in force.
    OtherLimit,
    /// More in a window than `burst + rate * window`.
    OverRate,
    /// Admitted by a policy that was paused, disabled or retired.
    ClosedPolicy,
    /// Admitted to a partition that is not there.
    NoPartition,
    /// Decided at an instant outside of its transaction.
    WrongTime,
    /// A dedupe key held by a job that is gone.
    KeyLeft,
    /// A job that has a dedupe key and does not hold it.
    KeyLost,
    /// One job, two admissions for the same attempt.
    AdmittedAgain,
    /// Before its `run_at`.
    AdmittedEarly,
    /// Admitted, and no committed transaction staged it.
    UnknownJob,
    /// Cancelled, and yet admitted or still waiting.
    CancelledJob,
    /// Neither waiting, nor in the queue, nor done.
    LostJob,
    /// Still waiting, or in the queue, when all should be done.
    NotDone,
    /// A slot that nobody needs any more.
    SlotLeft,
    /// A counter and its rows differ in one snapshot.
    CountersDisagree,
    /// A job that the queue was said to refuse.
    Quarantined,
    /// Somebody was chosen to end a deadlock.
    Deadlock,
    /// An error that nobody caused.
    UnexpectedError,
    /// A helper process ended as it should not.
    BadEnd,
}

impl Fault {
    /// The names that the checks in SQL use.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "over_limit" => Self::OverLimit,
            "other_limit" => Self::OtherLimit,
            "closed_policy" => Self::ClosedPolicy,
            "no_partition" => Self::NoPartition,
            "wrong_time" => Self::WrongTime,
            "admitted_again" => Self::AdmittedAgain,
            "admitted_early" => Self::AdmittedEarly,
            "unknown_job" => Self::UnknownJob,
            "cancelled_job" => Self::CancelledJob,
            "lost_job" => Self::LostJob,
            "not_done" => Self::NotDone,
            "slot_left" => Self::SlotLeft,
            "key_left" => Self::KeyLeft,
            "key_lost" => Self::KeyLost,
            "quarantined" => Self::Quarantined,
            "deadlock" => Self::Deadlock,
            other => panic!("a check reports {other:?}, which is no fault"),
        }
    }
}

/// A promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which one.
    pub fault: Fault,
    /// What was found.
    pub detail: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.fault, self.detail)
    }
}

/// An error of a participant, of whatever door.
pub(super) type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// The collection. Everybody may add to it.
#[derive(Debug, Default)]
pub(super) struct Complaints(Mutex<Vec<Problem>>);

impl Complaints {
    pub(super) fn add(&self, fault: Fault, detail: impl Into<String>) {
        self.0.lock().expect("nobody panics with this lock").push(Problem { fault, detail: detail.into() });
    }

    /// Hears what became of an operation. A session that was ended in the server is part of the play, any other error is not. Returns what
    /// the operation gave.
    pub(super) fn hear<T>(&self, who: &str, outcome: Result<T, Trouble>) -> Option<T> {
        match outcome {
            Ok(value) => return Some(value),
            Err(error) => match ending(error.as_ref()) {
                Ending::Disturbed => {}
                Ending::Deadlock => self.add(Fault::Deadlock, format!("{who}: {error}")),
                Ending::Other => self.add(Fault::UnexpectedError, format!("{who}: {error:?}")),
            },
        }
        None
    }

    pub(super) fn take(&self) -> Vec<Problem> {
        std::mem::take(&mut self.0.lock().expect("nobody panics with this lock"))
    }
}

enum Ending {
    Disturbed,
    Deadlock,
    Other,
}

/// By the SQLSTATE, or by the kind of the driver's error, wherever in the chain it stands.
fn ending(error: &(dyn std::error::Error + 'static)) -> Ending {
    let mut next = Some(error);
    while let Some(error) = next {
        match error.downcast_ref::<sqlx::Error>() {
            Some(sqlx::Error::Database(error)) => {
                return match error.code().as_deref() {
                    // Ended by an administrator, or while it was frozen in a transaction.
                    Some("57P01" | "25P03") => Ending::Disturbed,
                    Some("40P01") => Ending::Deadlock,
                    _ => Ending::Other,
                };
            }
            Some(sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut) => return Ending::Disturbed,
            _ => next = error.source(),
        }
    }
    Ending::Other
}
