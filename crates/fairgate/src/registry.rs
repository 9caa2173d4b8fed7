//! Policies and queues are registered in the database; every door and every ticker reads them there.
//!
//! A policy has a revision. An older one never overwrites a newer: with an explicit revision the number decides; without, a definition that
//! was in force before counts as older, unless the caller says that going back is meant ([`Options::go_back`]).

mod policies;
mod queues;
mod registered;

use std::sync::Arc;

use fairgate_core::id::QueueName;
use fairgate_core::policy::Policy;
use sqlx::PgConnection;

use crate::error::DatabaseError;
use crate::queue::Queue;

pub use policies::PolicyOutcome;
pub use queues::{QueueState, uninstall_hooks};
pub(crate) use queues::{install_missing, missing_triggers, set_not_ready};
pub(crate) use registered::{OwnQueues, RegisteredQueue, adapter};

/// A queue to register: its name in the configuration, and what it is.
#[derive(Debug, Clone)]
pub struct QueueSpec {
    /// The name that policies use.
    pub name: QueueName,
    /// The adapter.
    pub queue: Arc<dyn Queue>,
    /// Jobs that it may hold and no worker has begun. None: fits itself to the workers, where the queue shows starts; 0: any number.
    pub max_waiting: Option<u32>,
}

/// Where policies come from. Those of a file are retired when they are in it no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// `fairgate.toml`: the whole of it.
    File,
    /// A program's own builder calls: never retires others.
    Code,
}

/// How to register.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Where the policies come from.
    pub source: Source,
    /// The revision of all of them, if the source says one.
    pub revision: Option<u32>,
    /// Whether to install the queues' triggers.
    pub hooks: bool,
    /// Whether a definition that was in force before may replace a newer one: an operator means it, a restarted daemon does not.
    pub go_back: bool,
}

/// What registering did.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The queues, in the order given.
    pub queues: Vec<(QueueName, QueueState)>,
    /// The policies, in the order given, then the retired ones.
    pub policies: Vec<(String, PolicyOutcome)>,
}

/// Why nothing was registered.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The database did not carry it out.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The same revision number stands for something else.
    #[error(
        "policy \"{policy}\": revision {revision} is registered with another definition; raise the revision of what you changed"
    )]
    SameRevision {
        /// The policy.
        policy: String,
        /// The revision.
        revision: u32,
    },
    /// The policy needs to see what the queue's tables cannot show.
    #[error(
        "policy \"{policy}\": {what} needs to see when a job has {event}, which queue \"{queue}\" cannot show"
    )]
    QueueCannotShow {
        /// The policy.
        policy: String,
        /// The queue.
        queue: String,
        /// What would have to be seen.
        event: &'static str,
        /// The setting that needs it.
        what: &'static str,
    },
    /// A policy names a queue that is neither given nor registered.
    #[error("policy \"{policy}\" goes to queue \"{queue}\", which is not registered")]
    UnknownQueue {
        /// The policy.
        policy: String,
        /// The queue.
        queue: String,
    },
}

/// Registers queues and policies, all or nothing, then installs what the queues need. A queue whose tables are not there yet is registered
/// as not ready: staging works, admission to it waits, and a ticker installs it when they appear.
///
/// # Errors
/// See [`ApplyError`].
pub async fn apply(
    conn: &mut PgConnection,
    queues: &[QueueSpec],
    policies: &[Policy],
    options: Options,
) -> Result<Applied, ApplyError> {
    let (ids, policies) = policies::register(conn, queues, policies, options).await?;
    let mut states = Vec::with_capacity(queues.len());
    for (spec, id) in queues.iter().zip(ids) {
        states
            .push((spec.name.clone(), queues::install(conn, id, spec.queue.as_ref(), options.hooks).await?));
    }
    Ok(Applied { queues: states, policies })
}
