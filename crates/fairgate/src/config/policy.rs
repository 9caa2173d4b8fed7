//! `[policies.NAME]`.

use fairgate_core::definition::{Dedupe, DedupeUntil, OnConflict, Retry};
use fairgate_core::policy::{Policy, PolicyBuilder, Problem};

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
    "max_pending",
    "dedupe",
    "fairness",
    "gates",
    "admission_batch_size",
    "fairness_half_life",
    "tick_admission_budget",
];

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
    section.only(found, KEYS, &[]);
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
    builder = retry(builder, &section, found);
    builder = dedupe(builder, &section, found);
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
    if let Some(jobs) = section.whole(found, "max_pending", 1, i32::MAX.unsigned_abs()) {
        builder = builder.max_pending(jobs);
    }
    if let Some(jobs) = section.whole(found, "admission_batch_size", 1, u32::MAX) {
        builder = builder.admission_batch_size(jobs);
    }
    if let Some(jobs) = section.whole(found, "tick_admission_budget", 1, u32::MAX) {
        builder = builder.tick_admission_budget(jobs);
    }
    match section.get("fairness_half_life").and_then(|node| node.half_life(found)) {
        Some(half_life) => builder.fairness_half_life(half_life),
        None => builder,
    }
}

fn retry(builder: PolicyBuilder, section: &Section<'_>, found: &mut Findings<'_>) -> PolicyBuilder {
    let retry = word(section, "retry", &[("restage", Retry::Restage), ("bypass", Retry::Bypass)], found);
    match retry {
        Some(retry) => builder.retry(retry),
        None => builder,
    }
}

fn dedupe(builder: PolicyBuilder, section: &Section<'_>, found: &mut Findings<'_>) -> PolicyBuilder {
    let Some(table) = section.section("dedupe", found) else { return builder };
    table.only(found, &["until", "on_conflict"], &[]);
    let until = [("admitted", DedupeUntil::Admitted), ("finished", DedupeUntil::Finished)];
    let on_conflict = [("keep", OnConflict::Keep), ("replace", OnConflict::Replace)];
    builder.dedupe(Dedupe {
        until: word(&table, "until", &until, found).unwrap_or_default(),
        on_conflict: word(&table, "on_conflict", &on_conflict, found).unwrap_or_default(),
    })
}

/// A key that takes one of a few words.
fn word<T: Copy>(
    section: &Section<'_>,
    key: &str,
    words: &[(&str, T)],
    found: &mut Findings<'_>,
) -> Option<T> {
    let known: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
    let known = known.join(" or ");
    let node = section.get(key)?;
    let value = node.text(found, &known)?;
    let meant = words.iter().find(|(word, _)| *word == value);
    if meant.is_none() {
        found.problem(node.offset, &node.at, format!("there is no {key} {value:?}; use {known}"));
    }
    meant.map(|(_, value)| *value)
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
