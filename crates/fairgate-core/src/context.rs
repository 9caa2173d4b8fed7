//! The context of a job: a JSON object, kept as the text that it came as.

mod leaf;
mod path;
mod storable;

use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

pub use leaf::Leaf;
pub use path::{Path, PathError};

/// Why a text is not a context.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// The text is no JSON.
    #[error("the context is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// The value could not be turned into JSON.
    #[error("the context cannot be written as JSON: {0}")]
    NotSerializable(#[source] serde_json::Error),
    /// The JSON is not an object.
    #[error("the context must be a JSON object such as {{\"account_id\": 7}}, not {found}")]
    NotAnObject {
        /// What it is: "an array", "a number".
        found: &'static str,
    },
    /// PostgreSQL's jsonb, where contexts are kept, refuses the string escape.
    #[error("the context contains {what} at byte {at}, which PostgreSQL's jsonb cannot store; remove it")]
    NotStorable {
        /// The escape that is refused.
        what: &'static str,
        /// Its position in the text.
        at: usize,
    },
}

/// An immutable JSON object. Number literals keep their text; a clone is cheap.
#[derive(Debug, Clone)]
pub struct Context(Arc<RawValue>);

impl Context {
    /// Reads a JSON object. Blanks around it are dropped, everything inside stays as it is.
    pub fn parse(text: &str) -> Result<Self, ContextError> {
        Self::from_raw(serde_json::from_str(text).map_err(ContextError::NotJson)?)
    }

    /// `{}`.
    pub fn empty() -> Self {
        Self::parse("{}").expect("{} is a JSON object")
    }

    /// Any value that serialises as a JSON object: a struct, a map, a [`serde_json::Value`].
    pub fn from_serialize<T: Serialize>(value: &T) -> Result<Self, ContextError> {
        let raw = serde_json::value::to_raw_value(value).map_err(ContextError::NotSerializable)?;
        Self::from_raw(raw)
    }

    fn from_raw(raw: Box<RawValue>) -> Result<Self, ContextError> {
        match leaf::kind(raw.get()) {
            "an object" => storable::check(raw.get())?,
            found => return Err(ContextError::NotAnObject { found }),
        }
        Ok(Self(Arc::from(raw)))
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// What stands at `path`. Of a key that comes twice the last one counts, as in jsonb.
    pub fn get(&self, path: &Path) -> Leaf {
        leaf::find(self.as_json(), path)
    }

    /// The whole context as a value of the caller's, for closures.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_json())
    }
}

impl TryFrom<String> for Context {
    type Error = ContextError;

    fn try_from(text: String) -> Result<Self, ContextError> {
        Self::parse(&text)
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::empty()
    }
}

impl PartialEq for Context {
    /// Contexts are equal when their texts are.
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Eq for Context {}

impl Serialize for Context {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Context {
    /// Works with `serde_json` only, which alone can hand over a raw value.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::from_raw(Box::<RawValue>::deserialize(from)?).map_err(D::Error::custom)
    }
}
