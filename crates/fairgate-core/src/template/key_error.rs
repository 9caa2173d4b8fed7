//! Why a context gives no key.

use crate::context::{Leaf, Path};
use crate::id::IdError;

/// Why no partition key or shard could be computed from a context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The context has nothing at the path.
    #[error("the context has no `{path}`; add it to the context, or pass the partition key itself")]
    Missing {
        /// The path.
        path: Path,
    },
    /// The context has something at the path that is no string, boolean or number.
    #[error("`{path}` in the context is {found}; it must be a string, a boolean or a 64-bit integer")]
    NotAKey {
        /// The path.
        path: Path,
        /// What stands there.
        found: String,
    },
    /// The context has a number at the path that is no 64-bit integer.
    #[error(
        "`{path}` in the context is {found}, which is not a 64-bit integer; write it as a string or an integer"
    )]
    NotAnInteger {
        /// The path.
        path: Path,
        /// What stands there.
        found: String,
    },
    /// The text that came out is no partition key or shard: empty, too long, or with a NUL.
    #[error(transparent)]
    Invalid(#[from] IdError),
    /// The key is computed by a closure that this process does not have.
    #[error(
        "the key is computed by a closure that this process does not have; build the policy in Rust here, or pass the partition key itself"
    )]
    NoClosure,
}

impl KeyError {
    pub(super) fn not_a_key(path: &Path, leaf: Leaf) -> Self {
        let (path, found) = (path.clone(), leaf.describe());
        Self::NotAKey { path, found }
    }

    pub(super) fn not_an_integer(path: &Path, leaf: Leaf) -> Self {
        let (path, found) = (path.clone(), leaf.describe());
        Self::NotAnInteger { path, found }
    }
}
