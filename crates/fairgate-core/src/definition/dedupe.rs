//! How a policy's jobs are deduplicated.

use serde::{Deserialize, Serialize};

/// What a job's dedupe key does. Jobs without a key are never deduplicated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dedupe {
    /// How long a job holds its key.
    #[serde(default)]
    pub until: DedupeUntil,
    /// What becomes of a job whose key another holds.
    #[serde(default)]
    pub on_conflict: OnConflict,
}

/// How long a job holds its dedupe key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DedupeUntil {
    /// Until it is admitted.
    Admitted,
    /// Until the queue is done with it, retries included.
    #[default]
    Finished,
}

/// What becomes of a job whose dedupe key another holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnConflict {
    /// It is dropped; the holder counts.
    #[default]
    Keep,
    /// It takes the place of the holder, with the holder's job id, while that one is still staged; else it is dropped.
    Replace,
}
