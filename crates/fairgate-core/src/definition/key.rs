//! What a partition key or shard is made of.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::template::Template;

/// JSON: a string, or `{"computed": true}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A context path or a template of paths.
    Template(Template),
    /// A closure, in the processes that have it.
    Computed,
}

impl Serialize for KeySource {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Template(template) => template.serialize(to),
            Self::Computed => computed(to),
        }
    }
}

impl<'de> Deserialize<'de> for KeySource {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(KeyVisitor)
    }
}

/// Writes `{"computed": true}`.
pub(super) fn computed<S: Serializer>(to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(1))?;
    map.serialize_entry("computed", &true)?;
    map.end()
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = KeySource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a context path or template such as \"acct:{account.id}\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<KeySource, E> {
        Template::parse(text).map(KeySource::Template).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<KeySource, A::Error> {
        let mut computed = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "computed" => computed = map.next_value()?,
                _ => return Err(A::Error::unknown_field(&key, &["computed"])),
            }
        }
        if computed {
            Ok(KeySource::Computed)
        } else {
            Err(A::Error::custom("a computed key is written {\"computed\": true}"))
        }
    }
}
