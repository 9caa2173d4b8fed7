//! Where in a context a value stands.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// There is no text.
    #[error("a context path must not be empty; write one such as account_id or account.id")]
    Empty,
    /// Two dots in a row, or one at an end.
    #[error("the context path {path:?} has an empty segment; write one such as account.id")]
    EmptySegment {
        /// The whole path.
        path: String,
    },
    /// A NUL character, which no key of a stored context has.
    #[error("the context path {path:?} contains the NUL character")]
    Nul {
        /// The whole path.
        path: String,
    },
}

/// Keys of nested objects joined by dots: `account.id`. It never looks into arrays.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Path(String);

impl Path {
    /// The path as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The keys, outermost first; at least one.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('.')
    }
}

impl TryFrom<String> for Path {
    type Error = PathError;
    fn try_from(path: String) -> Result<Self, PathError> {
        if path.is_empty() {
            Err(PathError::Empty)
        } else if path.contains('\0') {
            Err(PathError::Nul { path })
        } else if path.split('.').any(str::is_empty) {
            Err(PathError::EmptySegment { path })
        } else {
            Ok(Self(path))
        }
    }
}

impl FromStr for Path {
    type Err = PathError;
    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::try_from(text.to_owned())
    }
}

impl From<Path> for String {
    fn from(path: Path) -> String {
        path.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
