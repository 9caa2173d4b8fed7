//! `[[policies.NAME.gates]]`.

use std::collections::BTreeMap;
use std::time::Duration;

use fairgate_core::id::{GateName, IdError};
use fairgate_core::policy::{ConcurrencyBuilder, PolicyBuilder, ThrottleBuilder};

use super::findings::Findings;
use super::param::{self, Number};
use super::section::{Node, Section};
use super::suggest;

const KINDS: &[&str] = &["throttle", "concurrency"];
const LATER_KINDS: &[&str] = &["adaptive_concurrency"];
const THROTTLE_KEYS: &[&str] = &["type", "name", "rate", "per", "burst"];
const CONCURRENCY_KEYS: &[&str] = &["type", "name", "max", "full_backoff"];
const LATER_KEYS: &[&str] = &["scope", "shadow"];

/// A gate of the file, as far as it can be read.
pub(super) struct Draft<'a> {
    /// Unique within the policy, so that the place of a problem can be told from it.
    pub(super) name: String,
    /// Where it stands.
    pub(super) section: Section<'a>,
    /// What to build.
    pub(super) kind: Kind,
}

/// The keys of a gate, as far as they could be read.
pub(super) enum Kind {
    Throttle { rate: Option<Number>, per: Option<Duration>, burst: Option<Number> },
    Concurrency { max: Option<Number>, full_backoff: Option<Duration> },
}

/// The gates of a policy whose type is known; every other is reported.
pub(super) fn read_all<'a>(policy: &Section<'a>, found: &mut Findings<'_>) -> Vec<Draft<'a>> {
    let Some(sections) = policy.get("gates").and_then(|node| node.sections(found)) else {
        return Vec::new();
    };
    let mut seen = BTreeMap::new();
    let read = |(index, section)| read(index, section, &mut seen, found);
    sections.into_iter().enumerate().filter_map(read).collect()
}

fn read<'a>(
    index: usize,
    section: Section<'a>,
    seen: &mut BTreeMap<String, String>,
    found: &mut Findings<'_>,
) -> Option<Draft<'a>> {
    let kind_name = kind_name(&section, found);
    let name = name(index, &section, kind_name, seen, found);
    let kind = match kind_name? {
        "throttle" => {
            section.only(found, THROTTLE_KEYS, LATER_KEYS);
            Kind::Throttle {
                rate: param::read(&section, "rate", found),
                per: section.duration(found, "per"),
                burst: param::read(&section, "burst", found),
            }
        }
        "concurrency" => {
            section.only(found, CONCURRENCY_KEYS, LATER_KEYS);
            Kind::Concurrency {
                max: param::read(&section, "max", found),
                full_backoff: section.duration(found, "full_backoff"),
            }
        }
        _ => return None,
    };
    Some(Draft { name, section, kind })
}

fn kind_name<'a>(section: &Section<'a>, found: &mut Findings<'_>) -> Option<&'a str> {
    let Some(node) = section.get("type") else {
        let message = "it is missing; set it, for example type = \"concurrency\"";
        found.problem(section.offset, &section.place("type"), message);
        return None;
    };
    let kind = node.text(found, "\"throttle\" or \"concurrency\"")?;
    if LATER_KINDS.contains(&kind) {
        let message = format!("gates of type {kind:?} are not available yet; use \"concurrency\"");
        found.problem(node.offset, &node.at, message);
    } else if !KINDS.contains(&kind) {
        let hint = suggest::hint(kind, KINDS, "known:");
        found.problem(node.offset, &node.at, format!("there is no gate type {kind:?}{hint}"));
    }
    Some(kind)
}

/// The name of a gate, which its type is by default. A gate whose name cannot stand gets one that can.
fn name(
    index: usize,
    section: &Section<'_>,
    kind: Option<&str>,
    seen: &mut BTreeMap<String, String>,
    found: &mut Findings<'_>,
) -> String {
    let stand_in = format!("gate.{index}");
    let node = section.get("name");
    let written = node.as_ref().map(|node| node.text(found, "the name of the gate as text"));
    let Some(name) = written.unwrap_or(kind) else { return stand_in };
    let (offset, at) = place(section, node.as_ref());
    if let Err(error) = name.parse::<GateName>() as Result<_, IdError> {
        found.problem(offset, &at, error.to_string());
        return stand_in;
    }
    if let Some(first) = seen.get(name) {
        let message = format!("{first} is called {name:?} too; give each gate a `name` of its own");
        found.problem(offset, &at, message);
        return stand_in;
    }
    seen.insert(name.to_owned(), section.at.clone());
    name.to_owned()
}

fn place(section: &Section<'_>, node: Option<&Node<'_>>) -> (usize, String) {
    (node.map_or(section.offset, |node| node.offset), section.place("name"))
}

impl Kind {
    /// Adds the gate to a policy.
    pub(super) fn build(self, name: &str, policy: PolicyBuilder) -> PolicyBuilder {
        match self {
            Self::Throttle { rate, per, burst } => policy.throttle(|mut gate| {
                gate = gate.named(name);
                gate = apply(gate, rate, ThrottleBuilder::rate, ThrottleBuilder::rate_from);
                gate = apply(gate, burst, ThrottleBuilder::burst, ThrottleBuilder::burst_from);
                match per {
                    Some(per) => gate.per(per),
                    None => gate,
                }
            }),
            Self::Concurrency { max, full_backoff } => policy.concurrency(|mut gate| {
                gate = gate.named(name);
                gate = apply(gate, max, ConcurrencyBuilder::max, ConcurrencyBuilder::max_from);
                match full_backoff {
                    Some(backoff) => gate.full_backoff(backoff),
                    None => gate,
                }
            }),
        }
    }
}

fn apply<B>(
    gate: B,
    number: Option<Number>,
    fixed: fn(B, f64) -> B,
    from: fn(B, String, Option<f64>) -> B,
) -> B {
    match number {
        Some(Number::Fixed(number)) => fixed(gate, number),
        Some(Number::From { path, default }) => from(gate, path, default),
        None => gate,
    }
}
