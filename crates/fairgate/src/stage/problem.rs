use fairgate_core::template::KeyError;

use crate::error::DatabaseError;
use crate::stage::JobError;

/// Why a job was not staged. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// No policy of that name is registered (SQLSTATE FG001).
    #[error("{message}")]
    UnknownPolicy {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The policy is no longer in the configuration (FG002).
    #[error("{message}")]
    Retired {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The partition key or shard is missing or cannot be one (FG003).
    #[error("{message}")]
    BadKey {
        /// What is wrong, and at which context path.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A field of the job is missing or out of the queue's range (FG004), or the context is not an object (FG007).
    #[error("{message}")]
    BadJob {
        /// Which job, which field, which range.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The partition has as many waiting jobs as the policy's `max_pending` allows (FG008). Other partitions are untouched.
    #[error("{message}")]
    BacklogFull {
        /// What is wrong.
        message: String,
        /// The partition.
        partition: String,
        /// Jobs that wait in it.
        count: i64,
        /// How many may.
        limit: i64,
        /// What to do.
        hint: Option<String>,
    },
    /// Fairgate is disabled and the queue's own tables are not there or do not fit (FG005).
    #[error("{message}")]
    QueueNotReady {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A closure computed something that is not a partition key.
    #[error("policy \"{policy}\": partition_by: {source}")]
    Key {
        /// The policy.
        policy: String,
        /// What is wrong with the key.
        #[source]
        source: KeyError,
    },
    /// The payload or context is not what it must be.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The database did not carry it out.
    #[error(transparent)]
    Database(DatabaseError),
}

impl From<DatabaseError> for StageError {
    fn from(error: DatabaseError) -> Self {
        let (message, hint) = (error.message(), error.hint());
        match error.sqlstate().as_deref() {
            Some("FG001") => Self::UnknownPolicy { message, hint },
            Some("FG002") => Self::Retired { message, hint },
            Some("FG003") => Self::BadKey { message, hint },
            Some("FG004" | "FG007") => Self::BadJob { message, hint },
            Some("FG005") => Self::QueueNotReady { message, hint },
            Some("FG008") => Self::backlog_full(&error, message, hint),
            _ => Self::Database(error),
        }
    }
}

/// The numbers of a full backlog, which the database gives as the error's detail.
#[derive(serde::Deserialize, Default)]
struct Backlog {
    partition: String,
    count: i64,
    limit: i64,
}

impl StageError {
    fn backlog_full(error: &DatabaseError, message: String, hint: Option<String>) -> Self {
        let detail = error.detail().and_then(|text| serde_json::from_str(&text).ok());
        let Backlog { partition, count, limit } = detail.unwrap_or_default();
        Self::BacklogFull { message, partition, count, limit, hint }
    }
}

impl StageError {
    /// What to do about it, if the database said so.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::UnknownPolicy { hint, .. }
            | Self::Retired { hint, .. }
            | Self::BadKey { hint, .. }
            | Self::BadJob { hint, .. }
            | Self::BacklogFull { hint, .. }
            | Self::QueueNotReady { hint, .. } => hint.as_deref(),
            Self::Key { .. } | Self::Job(_) | Self::Database(_) => None,
        }
    }
}
