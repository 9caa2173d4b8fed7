//! JSON as it came: integers of any size, halves of surrogate pairs, escaped NULs; and its canonical form.
//!
//! Values keep numbers as they were written, and strings as UTF-16 code units where they are no Unicode text, so nothing that a server may
//! send is lost or refused. The canonical form is compact UTF-8 with keys sorted at every level and array order kept.

use std::collections::BTreeMap;

mod canonical;
mod parse;

pub use parse::{ParseError, parse};

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A string.
    Text(Text),
    /// An array.
    Array(Vec<Json>),
    /// An object. Of a key that comes twice the last value counts.
    Object(BTreeMap<Text, Json>),
}

/// A string: Unicode, or code units with a half of a surrogate pair among them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Text {
    /// Unicode text.
    Unicode(String),
    /// UTF-16 code units that are no Unicode text.
    Broken(Vec<u16>),
}

impl Json {
    /// The member of an object.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Self::Object(members) => members.get(&Text::Unicode(key.to_owned())),
            _ => None,
        }
    }

    /// Its text, if it is a string of Unicode.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(Text::Unicode(text)) => Some(text),
            _ => None,
        }
    }

    /// Its canonical form.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        canonical::write(self, &mut out);
        out
    }
}
