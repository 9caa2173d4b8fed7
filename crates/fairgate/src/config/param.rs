//! The numbers that gates take: `60`, or `{ from = "rate_limit", default = 60 }`.

use toml::de::DeValue;

use super::findings::Findings;
use super::section::{Node, Section};
use super::value::number;

const KEYS: &[&str] = &["from", "default"];
const WANTED: &str = "a number, or { from = \"a path in the context\", default = 5 }";

/// A number that a policy is built with.
pub(super) enum Number {
    Fixed(f64),
    From { path: String, default: Option<f64> },
}

/// The number under a key of a gate.
pub(super) fn read(section: &Section<'_>, key: &str, found: &mut Findings<'_>) -> Option<Number> {
    let node = section.get(key)?;
    match node.value {
        DeValue::Table(_) => from_context(&node, found),
        value => match number(value) {
            Some(number) => {
                if number == 0.0 {
                    found.note(node.offset, &node.at, "is 0: nothing is admitted");
                }
                Some(Number::Fixed(number))
            }
            None => node.wrong(found, WANTED),
        },
    }
}

fn from_context(node: &Node<'_>, found: &mut Findings<'_>) -> Option<Number> {
    let section = node.section(found)?;
    section.only(found, KEYS, &[]);
    let Some(path) = section.get("from") else {
        let message = "it is missing; set it, for example from = \"rate_limit\"";
        found.problem(section.offset, &section.place("from"), message);
        return None;
    };
    let path = path.text(found, "a path in the context as text, such as \"account.rate\"")?;
    let default = match section.get("default") {
        Some(default) => Some(default.number(found)?),
        None => {
            let message =
                format!("has no default: a job whose context has no number at {path:?} waits until one has");
            found.note(node.offset, &node.at, message);
            None
        }
    };
    Some(Number::From { path: path.to_owned(), default })
}
