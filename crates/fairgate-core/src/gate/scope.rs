//! Whose jobs a gate counts together.

use serde::Serialize;

use crate::context::{Context, Path};
use crate::definition::Scope;
use crate::id::ScopeValue;
use crate::template;

/// What a gate of a coarser scope than the partition counts together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScopeKey {
    /// All partitions of the policy, whatever their shard.
    Policy,
    /// All partitions of the policy whose contexts have this value at the gate's path.
    Value(ScopeValue),
}

/// A context that gives no scope key. Such a gate denies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("`{path}` in the context is {found}; a scope is a string, a boolean or a 64-bit integer")]
pub struct BadScope {
    /// Where the scope should stand.
    pub path: Path,
    /// What stands there.
    pub found: String,
}

impl Scope {
    /// What a partition with this context counts towards; `None` is the partition itself. The text of a value follows the rules of
    /// `partition_by`: a string, a boolean or a 64-bit integer, not empty, at most 10,000 bytes.
    ///
    /// # Errors
    /// The context has something else at the path, or nothing.
    pub fn key(&self, context: &Context) -> Result<Option<ScopeKey>, BadScope> {
        match self {
            Self::Partition => Ok(None),
            Self::Policy => Ok(Some(ScopeKey::Policy)),
            Self::Path(path) => value(context, path).map(|value| Some(ScopeKey::Value(value))),
        }
    }
}

fn value(context: &Context, path: &Path) -> Result<ScopeValue, BadScope> {
    let bad = |found: String| BadScope { path: path.clone(), found };
    let text = template::value(context, path).map_err(|_| bad(context.get(path).describe()))?;
    let bytes = text.len();
    ScopeValue::try_from(text).map_err(|_| match bytes {
        0 => bad("an empty text".to_owned()),
        bytes => bad(format!("a text of {bytes} bytes")),
    })
}
