//! Workers, played through the SQL that each queue publishes.

mod crates;
mod node;
mod python;
mod sql;
mod tables;

use fairgate::queue::Queue;

pub use crates::{apalis, underway};
pub use node::{graphile_worker, pg_boss};
pub use python::procrastinate;
pub use sql::pgmq;
pub use tables::{good_job, oban, river, solid_queue};

/// The queue's side of the suite, in SQL: one worker for the queue, or the task, `work`. `{id}` stands for the queue's own id of a job, `{error}` for a text.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    /// The adapter under test.
    pub queue: fn() -> Box<dyn Queue>,
    /// The queue's own tables.
    pub install: &'static str,
    /// Takes the next job: (id text, payload text). A statement that returns nothing, or one column, may come with it.
    pub fetch: &'static str,
    /// Ends the job well.
    pub succeed: &'static str,
    /// Ends the attempt badly; the queue means to try again while it has attempts left.
    pub fail: &'static str,
    /// Ends the last attempt badly.
    pub die: &'static str,
    /// Takes out a job that waits.
    pub remove: &'static str,
    /// Takes out all that wait.
    pub purge: &'static str,
    /// Lets so much time pass that a worker that runs jobs looks lost.
    pub vanish: &'static str,
    /// What the queue does about lost workers.
    pub rescue: &'static str,
    /// Lets every back-off pass.
    pub ripen: &'static str,
    /// Gives a dead job new attempts. None: the queue has no such thing.
    pub revive: Option<&'static str>,
    /// Adds a job of somebody else's.
    pub foreign: &'static str,
    /// Every row as one text.
    pub rows: &'static str,
    /// Ids of the jobs that wait or run.
    pub waiting: &'static str,
    /// From the queue's id to our admission.
    pub admission: &'static str,
    /// Changes a column that the adapter needs, and the words that name it.
    pub misshape: (&'static str, &'static str),
    /// Whether the queue's tables keep what an attempt ended with.
    pub keeps_errors: bool,
    /// Whether the queue lets a failed job wait.
    pub backs_off: bool,
}

/// Where our triggers find an admission by the queue's id.
const BY_TICKET: &str = "SELECT admission_id::text FROM fairgate.ticket WHERE queue_job_id = '{id}'";
