//! `partition_by` and `shard_by`: a context path, or a text with paths in it.

mod integer;
mod key_error;
mod parse;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::context::{Context, Leaf, Path};
use crate::id::PartitionKey;

pub use key_error::KeyError;
pub use parse::TemplateError;

/// A stretch of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself, with `{{` and `}}` already single.
    Literal(String),
    /// The value at a context path.
    Path(Path),
}

/// Either a bare path (`account.id`) or a text with holes (`acct:{account.id}`); `{{` and `}}` are braces.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

impl Template {
    /// Reads a template. A text without any brace is a path.
    pub fn parse(source: &str) -> Result<Self, TemplateError> {
        let parts = parse::parts(source)?;
        let source = source.to_owned();
        Ok(Self { source, parts })
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Its literals and paths, in order; never empty.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The text for a context. A path must give a string, a boolean or a 64-bit integer.
    pub fn render_text(&self, context: &Context) -> Result<String, KeyError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => text.push_str(literal),
                Part::Path(path) => text.push_str(&value(context, path)?),
            }
        }
        Ok(text)
    }

    /// The partition key for a context.
    pub fn render(&self, context: &Context) -> Result<PartitionKey, KeyError> {
        Ok(PartitionKey::try_from(self.render_text(context)?)?)
    }
}

/// The value at `path` as text: a number as jsonb would store it, when that is a 64-bit integer.
pub(crate) fn value(context: &Context, path: &Path) -> Result<String, KeyError> {
    match context.get(path) {
        Leaf::Text(text) => Ok(text),
        Leaf::Bool(value) => Ok(value.to_string()),
        Leaf::Number(literal) => integer::normalise(&literal)
            .map(|integer| integer.to_string())
            .ok_or_else(|| KeyError::not_an_integer(path, Leaf::Number(literal))),
        Leaf::Missing => Err(KeyError::Missing { path: path.clone() }),
        leaf @ (Leaf::Null | Leaf::Composite) => Err(KeyError::not_a_key(path, leaf)),
    }
}

impl PartialEq for Template {
    /// Templates are equal when their sources are.
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Template {}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl FromStr for Template {
    type Err = TemplateError;
    fn from_str(text: &str) -> Result<Self, TemplateError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Template {
    type Error = TemplateError;
    fn try_from(text: String) -> Result<Self, TemplateError> {
        Self::parse(&text)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> String {
        template.source
    }
}
