//! Reading a template.

use super::Part;
use crate::context::PathError;

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// There is no text.
    #[error(
        "it is empty; write a context path such as account_id, or a template such as acct:{{account.id}}"
    )]
    Empty,
    /// A path is wrong.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A `{` has no `}`.
    #[error("{source_text:?} has a `{{` at byte {at} that is never closed; write `{{{{` for a brace itself")]
    Unclosed {
        /// The whole text.
        source_text: String,
        /// Where the brace stands.
        at: usize,
    },
    /// A `}` or `{` where none belongs.
    #[error("{source_text:?} has a stray `{brace}` at byte {at}; write it twice for a brace itself")]
    Stray {
        /// The whole text.
        source_text: String,
        /// The brace.
        brace: char,
        /// Where it stands.
        at: usize,
    },
    /// A NUL character, which no key has.
    #[error("{source_text:?} contains the NUL character")]
    Nul {
        /// The whole text.
        source_text: String,
    },
}

pub(super) fn parts(source: &str) -> Result<Vec<Part>, TemplateError> {
    if source.is_empty() {
        return Err(TemplateError::Empty);
    }
    if source.contains('\0') {
        let source_text = source.to_owned();
        return Err(TemplateError::Nul { source_text });
    }
    if !source.contains(['{', '}']) {
        return Ok(vec![Part::Path(source.parse()?)]);
    }
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(next) = source[at..].chars().next() {
        let rest = &source[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            literal.push(next);
            at += 2;
        } else if next == '{' {
            let hole = hole(source, at)?;
            if !literal.is_empty() {
                parts.push(Part::Literal(std::mem::take(&mut literal)));
            }
            parts.push(Part::Path(hole.parse()?));
            at += hole.len() + 2;
        } else if next == '}' {
            return Err(stray(source, next, at));
        } else {
            literal.push(next);
            at += next.len_utf8();
        }
    }
    if !literal.is_empty() {
        parts.push(Part::Literal(literal));
    }
    Ok(parts)
}

/// The text between the `{` at `at` and its `}`.
fn hole(source: &str, at: usize) -> Result<&str, TemplateError> {
    let inside = &source[at + 1..];
    let Some(end) = inside.find('}') else {
        let source_text = source.to_owned();
        return Err(TemplateError::Unclosed { source_text, at });
    };
    match inside[..end].find('{') {
        Some(brace) => Err(stray(source, '{', at + 1 + brace)),
        None => Ok(&inside[..end]),
    }
}

fn stray(source: &str, brace: char, at: usize) -> TemplateError {
    let source_text = source.to_owned();
    TemplateError::Stray { source_text, brace, at }
}
