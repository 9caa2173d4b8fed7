//! What goes wrong, and what to do.

use std::fmt;

use fairgate::DatabaseError;
use fairgate::budget::ReserveError;
use fairgate::lock::LockError;

/// An error that ends a command.
#[derive(Debug)]
pub struct FeedError {
    usage: bool,
    message: String,
    hint: Option<String>,
}

impl FeedError {
    /// Wrong use or configuration: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { usage: true, message: message.into(), hint: None }
    }

    /// It could have worked: exit code 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { usage: false, message: message.into(), hint: None }
    }

    /// Says what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// 1 or 2.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.usage { 2 } else { 1 }
    }
}

impl std::error::Error for FeedError {}

impl fmt::Display for FeedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Names the operation of a failed statement.
pub(crate) trait Doing<T> {
    fn doing(self, what: &'static str) -> Result<T, FeedError>;
}

impl<T> Doing<T> for Result<T, sqlx::Error> {
    fn doing(self, doing: &'static str) -> Result<T, FeedError> {
        self.map_err(|source| DatabaseError { doing, source }.into())
    }
}

impl From<DatabaseError> for FeedError {
    fn from(error: DatabaseError) -> Self {
        let hint = match (error.sqlstate().as_deref(), &error.source) {
            (Some("42P01" | "3F000" | "42703"), _) => {
                Some("`pushfeed migrate` brings the database up to date")
            }
            (None, sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Protocol(_)) => {
                Some("is the server of DATABASE_URL running, and reachable from here?")
            }
            _ => None,
        };
        Self { usage: false, message: error.to_string(), hint: hint.map(str::to_owned) }
    }
}

impl From<ReserveError> for FeedError {
    fn from(error: ReserveError) -> Self {
        match error {
            ReserveError::Database(error) => error.into(),
            other => Self::failed(other.to_string()),
        }
    }
}

impl From<LockError> for FeedError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Database(error) => error.into(),
            other @ LockError::Order { .. } => Self::failed(other.to_string()),
        }
    }
}
