//! `[[policies.NAME.gates]]`.

mod adaptive;
mod build;

use std::collections::BTreeMap;
use std::time::Duration;

use fairgate_core::id::{GateName, IdError};

use super::findings::Findings;
use super::param::{self, Number};
use super::section::{Node, Section};
use super::suggest;

use adaptive::Adaptive;

const KINDS: &[&str] = &["throttle", "concurrency", "adaptive_concurrency"];
const THROTTLE_KEYS: &[&str] = &["type", "name", "rate", "per", "burst", "scope", "shadow"];
const CONCURRENCY_KEYS: &[&str] = &["type", "name", "max", "full_backoff", "scope", "shadow"];
const ADAPTIVE_KEYS: &[&str] = &[
    "type",
    "name",
    "initial_max",
    "target_lag_ms",
    "min",
    "max",
    "ewma_alpha",
    "failure_decrease_factor",
    "overload_decrease_factor",
    "full_backoff",
    "every_job",
    "shadow",
];

/// Whether a problem inside a gate can be about this key.
pub(super) fn is_place(key: &str) -> bool {
    [THROTTLE_KEYS, CONCURRENCY_KEYS, ADAPTIVE_KEYS].concat().contains(&key)
}

/// A gate of the file, as far as it can be read.
pub(super) struct Draft<'a> {
    /// Unique within the policy, so that the place of a problem can be told from it.
    pub(super) name: String,
    /// Where it stands.
    pub(super) section: Section<'a>,
    /// What every gate has.
    pub(super) common: Common<'a>,
    /// What to build.
    pub(super) kind: Kind,
}

/// What every gate has besides its name.
pub(super) struct Common<'a> {
    scope: Option<&'a str>,
    shadow: bool,
}

/// The keys of a gate, as far as they could be read.
pub(super) enum Kind {
    Throttle { rate: Option<Number>, per: Option<Duration>, burst: Option<Number> },
    Concurrency { max: Option<Number>, full_backoff: Option<Duration> },
    Adaptive(Box<Adaptive>),
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
            section.only(found, THROTTLE_KEYS, &[]);
            Kind::Throttle {
                rate: param::read(&section, "rate", found),
                per: section.duration(found, "per"),
                burst: param::read(&section, "burst", found),
            }
        }
        "concurrency" => {
            section.only(found, CONCURRENCY_KEYS, &[]);
            Kind::Concurrency {
                max: param::read(&section, "max", found),
                full_backoff: section.duration(found, "full_backoff"),
            }
        }
        "adaptive_concurrency" => {
            adaptive::only(&section, found);
            Kind::Adaptive(Box::new(Adaptive::read(&section, found)))
        }
        _ => return None,
    };
    let common = match kind {
        Kind::Adaptive(_) => Common { scope: None, shadow: flag(&section, "shadow", found) },
        _ => Common { scope: scope(&section, found), shadow: flag(&section, "shadow", found) },
    };
    Some(Draft { name, section, common, kind })
}

fn scope<'a>(section: &Section<'a>, found: &mut Findings<'_>) -> Option<&'a str> {
    let wanted =
        "a context path as text such as \"account_id\", or \"policy\" for one count over all partitions";
    section.get("scope")?.text(found, wanted)
}

fn flag(section: &Section<'_>, key: &str, found: &mut Findings<'_>) -> bool {
    section.get(key).and_then(|node| node.flag(found)).unwrap_or_default()
}

fn kind_name<'a>(section: &Section<'a>, found: &mut Findings<'_>) -> Option<&'a str> {
    let Some(node) = section.get("type") else {
        let message = "it is missing; set it, for example type = \"concurrency\"";
        found.problem(section.offset, &section.place("type"), message);
        return None;
    };
    let kind = node.text(found, "\"throttle\", \"concurrency\" or \"adaptive_concurrency\"")?;
    if !KINDS.contains(&kind) {
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
