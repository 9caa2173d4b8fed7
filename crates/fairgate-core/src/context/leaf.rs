//! Walking the text of a context without ever turning a number into a float.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Path;

/// What stands at a path of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaf {
    /// Nothing: a key is absent, or the way leads through something that is not an object.
    Missing,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as its literal was written: `1e2`, `100.0`, `1e400`.
    Number(String),
    /// A string, with its escapes resolved.
    Text(String),
    /// An object or an array.
    Composite,
}

impl Leaf {
    /// The value for a message: `missing`, `null`, `the number 1.5`, `the text "x"`.
    pub fn describe(&self) -> String {
        match self {
            Self::Missing => "missing".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Number(literal) => format!("the number {}", short(literal)),
            Self::Text(text) => format!("the text {:?}", short(text)),
            Self::Composite => "an object or an array".to_owned(),
        }
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// What the JSON text is, told by its first byte.
pub(super) fn kind(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

pub(super) fn find(json: &str, path: &Path) -> Leaf {
    let mut here = json;
    for key in path.segments() {
        match member(here, key) {
            Some(value) => here = value,
            None => return Leaf::Missing,
        }
    }
    match kind(here) {
        "null" => Leaf::Null,
        "a boolean" => Leaf::Bool(here == "true"),
        "a number" => Leaf::Number(here.to_owned()),
        "a string" => serde_json::from_str(here).map_or(Leaf::Missing, Leaf::Text),
        _ => Leaf::Composite,
    }
}

/// The text of the last member called `key`; `None` also when `json` is not an object.
fn member<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let mut reader = serde_json::Deserializer::from_str(json);
    reader.deserialize_map(Members(key)).ok().flatten()
}

struct Members<'k>(&'k str);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(wanted) = map.next_key_seed(KeyIs(self.0))? {
            if wanted {
                found = Some(map.next_value::<&RawValue>()?.get());
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

struct KeyIs<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for KeyIs<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyIs<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}
