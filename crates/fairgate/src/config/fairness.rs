//! `fairness` of a policy: a word or a table.

use fairgate_core::fairness::weighted::Cost;
use fairgate_core::policy::FairnessBuilder;
use toml::de::DeValue;

use super::findings::Findings;
use super::param::{self, Number};
use super::section::{Node, Section};
use super::suggest;

const MODES: &[&str] = &["recent", "weighted"];
const COSTS: &[&str] = &["jobs", "time"];
const KEYS: &[&str] = &["mode", "cost", "weight"];
const WANTED: &str = "\"recent\", \"weighted\" or a table such as { mode = \"weighted\", cost = \"time\" }";

/// The fairness that a policy asks for, if it asks for one that exists.
pub(super) fn read(policy: &Section<'_>, found: &mut Findings<'_>) -> Option<FairnessBuilder> {
    let node = policy.get("fairness")?;
    match node.value {
        DeValue::String(_) => mode(&node, found),
        DeValue::Table(_) => table(&node.section(found)?, found),
        _ => node.wrong(found, WANTED),
    }
}

fn mode(node: &Node<'_>, found: &mut Findings<'_>) -> Option<FairnessBuilder> {
    match word(node, "mode", MODES, found)? {
        "weighted" => Some(FairnessBuilder::weighted()),
        _ => Some(FairnessBuilder::recent()),
    }
}

fn table(section: &Section<'_>, found: &mut Findings<'_>) -> Option<FairnessBuilder> {
    section.only(found, KEYS, &[]);
    let Some(node) = section.get("mode") else {
        let message = "it is missing; set it, for example mode = \"weighted\"";
        found.problem(section.offset, &section.place("mode"), message);
        return None;
    };
    let mut fairness = mode(&node, found)?;
    if fairness.is_recent() {
        for node in ["cost", "weight"].iter().filter_map(|key| section.get(key)) {
            found.problem(node.key_offset, &node.at, "counts in mode \"weighted\" only; remove it");
        }
        return Some(fairness);
    }
    if let Some(node) = section.get("cost") {
        fairness = fairness.cost(match word(&node, "cost", COSTS, found)? {
            "time" => Cost::Time,
            _ => Cost::Jobs,
        });
    }
    Some(match param::read(section, "weight", found) {
        Some(Number::Fixed(weight)) => fairness.weight(weight),
        Some(Number::From { path, default }) => fairness.weight_from(path, default),
        None => fairness,
    })
}

/// One of the known words.
fn word<'a>(node: &Node<'a>, what: &str, known: &[&str], found: &mut Findings<'_>) -> Option<&'a str> {
    let word = node.text(found, &format!("{:?} or {:?}", known[0], known[1]))?;
    if known.contains(&word) {
        return Some(word);
    }
    let hint = suggest::hint(word, known, "known:");
    found.problem(node.offset, &node.at, format!("there is no {what} {word:?}{hint}"));
    None
}
