//! `[queues.NAME]`.

use fairgate_core::id::{IdError, QueueName};
use fairgate_core::policy::Policy;

use super::QueueConfig;
use super::findings::Findings;
use super::section::{Node, Section};
use super::{suggest, table};
use crate::queue::{Ident, KINDS};

const KEYS: &[&str] = &["type", "schema", "max_waiting"];

/// `[queues]`, with at least one queue in it.
pub(super) fn section<'a>(root: &Section<'a>, found: &mut Findings<'_>) -> Option<Section<'a>> {
    let section = match root.get("queues") {
        Some(node) => Some(node.section(found)?),
        None => None,
    };
    if section.as_ref().is_none_or(|section| section.nodes().is_empty()) {
        let offset = section.as_ref().map_or(0, |section| section.offset);
        let message = "there is no queue to hand jobs to; add one, for example [queues.main] with type = \"graphile_worker\"";
        found.problem(offset, "queues", message);
    }
    section
}

pub(super) fn read_all(section: &Section<'_>, found: &mut Findings<'_>) -> Vec<QueueConfig> {
    section.nodes().iter().filter_map(|node| read(node, found)).collect()
}

fn read(node: &Node<'_>, found: &mut Findings<'_>) -> Option<QueueConfig> {
    let name: Option<QueueName> = node
        .key
        .parse()
        .map_err(|error: IdError| found.problem(node.key_offset, &node.at, error.to_string()))
        .ok();
    let section = node.section(found)?;
    let kind = kind(&section, found);
    let settings = match kind.filter(|kind| KINDS.contains(kind)) {
        Some("table") => {
            section.only(found, &[KEYS, table::KEYS].concat(), &[]);
            serde_json::to_value(table::read(&section, found)).expect("plain text and numbers")
        }
        Some(_) => {
            section.only(found, KEYS, &[]);
            serde_json::json!({})
        }
        None => serde_json::json!({}),
    };
    let schema = section.get("schema").and_then(|node| schema(&node, found));
    let max_waiting = section.whole(found, "max_waiting", 0, i32::MAX.unsigned_abs());
    Some(QueueConfig {
        name: name?,
        kind: kind?.to_owned(),
        schema: schema.map(str::to_owned),
        max_waiting,
        settings,
    })
}

fn kind<'a>(section: &Section<'a>, found: &mut Findings<'_>) -> Option<&'a str> {
    let known = KINDS.join(", ");
    let Some(node) = section.get("type") else {
        let message = format!("it is missing; set it, for example type = \"{}\"", KINDS[0]);
        found.problem(section.offset, &section.place("type"), message);
        return None;
    };
    let kind = node.text(found, &format!("the type of the queue as text: {known}"))?;
    if !KINDS.contains(&kind) {
        let hint = suggest::hint(kind, KINDS, "known:");
        found.problem(node.offset, &node.at, format!("there is no queue type {kind:?}{hint}"));
    }
    Some(kind)
}

fn schema<'a>(node: &Node<'a>, found: &mut Findings<'_>) -> Option<&'a str> {
    let schema = node.text(found, "the name of a schema as text")?;
    if let Err(error) = Ident::new(schema) {
        found.problem(node.offset, &node.at, error.to_string());
    } else if schema == "fairgate" {
        let message = "is fairgate's own schema; name the one that holds the queue's tables";
        found.problem(node.offset, &node.at, message);
    }
    Some(schema)
}

/// Notes the queues that nothing uses.
pub(super) fn note_unused(section: &Section<'_>, policies: &[Policy], found: &mut Findings<'_>) {
    for node in section.nodes() {
        if !policies.iter().any(|policy| policy.queue().as_str() == node.key) {
            found.note(node.offset, &node.at, "no policy uses this queue");
        }
    }
}
