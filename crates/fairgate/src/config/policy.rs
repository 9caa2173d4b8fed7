//! `[policies.NAME]`.

use fairgate_core::policy::{Policy, PolicyBuilder, Problem};
use toml::de::DeValue;

use super::fairness;
use super::findings::Findings;
use super::gate;
use super::section::{Node, Section};
use super::suggest;

const KEYS: &[&str] = &[
    "queue",
    "partition_by",
    "shard_by",
    "retry",
    "fairness",
    "gates",
    "admission_batch_size",
    "fairness_half_life",
    "tick_admission_budget",
];
const LATER_KEYS: &[&str] = &["max_pending", "dedupe"];

/// Reads `[policies]`; `queues` is `[queues]`, if the file has it.
pub(super) fn read_all(
    root: &Section<'_>,
    queues: Option<&Section<'_>>,
    found: &mut Findings<'_>,
) -> Vec<Policy> {
    let Some(section) = root.section("policies", found) else {
        if root.get("policies").is_none() {
            found.note(0, "policies", "there is none, so nothing can be staged");
        }
        return Vec::new();
    };
    section.nodes().iter().filter_map(|node| read(node, queues, found)).collect()
}

fn read(node: &Node<'_>, queues: Option<&Section<'_>>, found: &mut Findings<'_>) -> Option<Policy> {
    let section = node.section(found)?;
    section.only(found, KEYS, LATER_KEYS);
    let mut builder = Policy::builder(node.key);
    if let Some(name) = text(&section, "queue", "the name of a queue as text", found) {
        known_queue(&section, name, queues, found);
        builder = builder.queue(name);
    }
    let wanted = "a context path or a template as text, such as \"acct:{account.id}\"";
    if let Some(template) = text(&section, "partition_by", wanted, found) {
        builder = builder.partition_by(template);
    }
    if let Some(template) = text(&section, "shard_by", wanted, found) {
        builder = builder.shard_by(template);
    }
    only_word(&section, "retry", "bypass", &["restage"], found);
    if let Some(fairness) = fairness::read(&section, found) {
        builder = builder.fairness(fairness);
    }
    builder = limits(builder, &section, found);
    let mut gates = Vec::new();
    for draft in gate::read_all(&section, found) {
        builder = draft.kind.build(&draft.name, &draft.common, builder);
        gates.push((draft.name, draft.section));
    }
    match builder.build() {
        Ok(policy) => Some(policy),
        Err(problems) => {
            problems.into_iter().for_each(|problem| report(problem, node, &section, &gates, found));
            None
        }
    }
}

fn text<'a>(section: &Section<'a>, key: &str, wanted: &str, found: &mut Findings<'_>) -> Option<&'a str> {
    section.get(key)?.text(found, wanted)
}

fn limits(mut builder: PolicyBuilder, section: &Section<'_>, found: &mut Findings<'_>) -> PolicyBuilder {
    if let Some(jobs) = section.whole(found, "admission_batch_size", u32::MAX) {
        builder = builder.admission_batch_size(jobs);
    }
    if let Some(jobs) = section.whole(found, "tick_admission_budget", u32::MAX) {
        builder = builder.tick_admission_budget(jobs);
    }
    match section.get("fairness_half_life").and_then(|node| node.half_life(found)) {
        Some(half_life) => builder.fairness_half_life(half_life),
        None => builder,
    }
}

fn known_queue(section: &Section<'_>, name: &str, queues: Option<&Section<'_>>, found: &mut Findings<'_>) {
    let nodes = queues.map(Section::nodes).unwrap_or_default();
    let known: Vec<&str> = nodes.iter().map(|node| node.key).collect();
    if !known.is_empty() && !known.contains(&name) {
        let hint = suggest::hint(name, &known, "[queues] has");
        let message = format!("there is no queue {name:?} in this file{hint}");
        found.problem(section.offset_of("queue"), &section.place("queue"), message);
    }
}

/// A key that takes one word as yet.
fn only_word(section: &Section<'_>, key: &str, word: &str, later: &[&str], found: &mut Findings<'_>) {
    let Some(node) = section.get(key) else { return };
    let message = match node.value {
        DeValue::String(value) if value == word => return,
        DeValue::String(value) if later.contains(&value.as_ref()) => {
            format!("{key} = {value:?} is not available yet; use {word:?}, or leave it out")
        }
        _ => return node.refuse(found, &format!("{word:?}, or leave it out")),
    };
    found.problem(node.offset, &node.at, message);
}

/// Reports what the policy itself found wrong, at its place in the file, unless reading already said so there.
fn report(
    problem: Problem,
    node: &Node<'_>,
    section: &Section<'_>,
    gates: &[(String, Section<'_>)],
    found: &mut Findings<'_>,
) {
    if problem.at == "name" {
        return found.problem(node.key_offset, &node.at, problem.message);
    }
    let (offset, at) = match in_gate(&problem.at, gates) {
        Some((gate, rest)) => (gate.offset_of(rest), gate.place_of(rest)),
        None => (section.offset_of(&problem.at), section.place_of(&problem.at)),
    };
    if !found.has(&at) {
        found.problem(offset, &at, problem.message);
    }
}

/// `gates.NAME.rate.default` as the gate and `rate.default`.
fn in_gate<'g, 'a>(at: &'a str, gates: &'g [(String, Section<'a>)]) -> Option<(&'g Section<'a>, &'a str)> {
    let inside = at.strip_prefix("gates.")?;
    gates.iter().find_map(|(name, section)| {
        let rest = inside.strip_prefix(name.as_str())?.strip_prefix('.')?;
        let first = rest.split('.').next()?;
        gate::is_place(first).then_some((section, rest))
    })
}
