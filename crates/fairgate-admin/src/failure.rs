//! From the library's errors to a status, what is wrong, and what to do.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use fairgate::force::ForceError;
use fairgate::operate::OperateError;
use fairgate::overrides::OverrideError;
use fairgate::quarantine::QuarantineError;
use fairgate::{DatabaseError, StageError};
use fairgate_core::id::IdError;

/// Why a request was not carried out. The answer carries it as an extension, and [`crate::enter`] writes it as a page or as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// No connection to the database.
    pub(crate) fn unreachable(error: sqlx::Error) -> Self {
        tracing::warn!(%error, "the admin pages have no connection to the database");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the database cannot be reached")
            .hint("The server's log says why. This page works again as soon as the database answers.")
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(Arc::new(self));
        response
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        let (status, hint) = match error.sqlstate().as_deref() {
            Some("3F000" | "42P01" | "42883" | "42703") => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Run `fairgate migrate`: this database's schema is missing or older.",
            ),
            Some("42501") => {
                (StatusCode::FORBIDDEN, "The user of the admin pages lacks a privilege in the database.")
            }
            Some("57014") => {
                (StatusCode::SERVICE_UNAVAILABLE, "It took too long and was given up; try again.")
            }
            Some("25006") => (StatusCode::SERVICE_UNAVAILABLE, "The server is read-only; name the primary."),
            Some(_) => (StatusCode::INTERNAL_SERVER_ERROR, "The message above is the database's own."),
            None => (StatusCode::SERVICE_UNAVAILABLE, "The connection was lost; try again in a moment."),
        };
        tracing::warn!(%error, "an admin page failed");
        Self::new(status, format!("{} failed: {}", error.doing, error.message())).hint(hint)
    }
}

impl From<OperateError> for Failure {
    fn from(error: OperateError) -> Self {
        match error {
            OperateError::Database(error) => error.into(),
            other => Self::not_found(other.to_string()),
        }
    }
}

impl From<ForceError> for Failure {
    fn from(error: ForceError) -> Self {
        match error {
            ForceError::Operate(error) => error.into(),
            other => Self::new(StatusCode::CONFLICT, other.to_string()),
        }
    }
}

impl From<OverrideError> for Failure {
    fn from(error: OverrideError) -> Self {
        match error {
            OverrideError::Operate(error) => error.into(),
            other => Self::bad(other.to_string()),
        }
    }
}

impl From<QuarantineError> for Failure {
    fn from(error: QuarantineError) -> Self {
        match error {
            QuarantineError::Operate(error) => error.into(),
            other => Self::new(StatusCode::CONFLICT, other.to_string()),
        }
    }
}

impl From<StageError> for Failure {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Database(error) => error.into(),
            other => Self::bad(other.to_string()),
        }
    }
}

impl From<IdError> for Failure {
    fn from(error: IdError) -> Self {
        Self::bad(error.to_string())
    }
}
