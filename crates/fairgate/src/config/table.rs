//! `[queues.NAME]` of type `table`.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::findings::Findings;
use super::section::{Node, Section};
use super::suggest;
use crate::queue::table::{Deleted, IdFrom, Means, Other, Sign, TableBack, TableSettings};
use crate::queue::{Ident, check_expression};

/// The keys that only this type has.
pub(super) const KEYS: &[&str] = &[
    "table",
    "id",
    "id_from",
    "columns",
    "priorities",
    "most_attempts",
    "started",
    "succeeded",
    "failed",
    "dead",
    "removed",
    "deleted",
    "back",
    "notify",
    "also",
    "signs",
];
const BACK: &[&str] = &["payload", "priority", "run_at", "attempts", "max_attempts", "last_error"];
const EXPRESSION: &str = "an SQL expression as text";

pub(super) fn read(section: &Section<'_>, found: &mut Findings<'_>) -> Option<TableSettings> {
    if section.get("failed").is_some() && section.get("back").is_none() {
        let message = "says when an attempt failed, but nothing how to read the job back; add a table back with at least payload";
        found.problem(section.offset_of("failed"), &section.place("failed"), message);
    }
    let table = required(section, "table", "\"river_job\"", found).and_then(|node| name(&node, found));
    let columns = required(section, "columns", "{ payload = \"payload\" }", found)
        .and_then(|node| columns(&node, found));
    let id = section.get("id").and_then(|node| name(&node, found)).unwrap_or_else(|| "id".to_owned());
    Some(TableSettings {
        id,
        id_from: word(
            section,
            "id_from",
            &[("sequence", IdFrom::Sequence), ("job_id", IdFrom::JobId)],
            found,
        ),
        priorities: priorities(section, found),
        most_attempts: section
            .whole(found, "most_attempts", 1, i32::MAX.unsigned_abs())
            .and_then(|most| i32::try_from(most).ok())
            .unwrap_or(i32::MAX),
        started: condition(section, "started", found),
        succeeded: condition(section, "succeeded", found),
        failed: condition(section, "failed", found),
        dead: condition(section, "dead", found),
        removed: condition(section, "removed", found),
        deleted: word(
            section,
            "deleted",
            &[("removed", Deleted::Removed), ("succeeded", Deleted::Succeeded)],
            found,
        ),
        back: back(section, found),
        notify: notify(section, found),
        also: section
            .get("also")
            .and_then(|node| node.sections(found))
            .map_or_else(Vec::new, |others| others.iter().filter_map(|other| also(other, found)).collect()),
        signs: section
            .get("signs")
            .and_then(|node| node.sections(found))
            .map_or_else(Vec::new, |signs| signs.iter().filter_map(|one| sign(one, found)).collect()),
        table: table?,
        columns: columns?,
    })
}

fn required<'a>(
    section: &Section<'a>,
    key: &str,
    example: &str,
    found: &mut Findings<'_>,
) -> Option<Node<'a>> {
    let node = section.get(key);
    if node.is_none() {
        let message = format!("it is missing; set it, for example {key} = {example}");
        found.problem(section.offset, &section.place(key), message);
    }
    node
}

/// The name of a table or column.
fn name(node: &Node<'_>, found: &mut Findings<'_>) -> Option<String> {
    let text = node.text(found, "a name as text")?;
    known_name(text, node.offset, &node.at, found)
}

fn known_name(text: &str, offset: usize, at: &str, found: &mut Findings<'_>) -> Option<String> {
    match Ident::new(text) {
        Ok(_) => Some(text.to_owned()),
        Err(error) => {
            found.problem(offset, at, error.to_string());
            None
        }
    }
}

fn expression(node: &Node<'_>, found: &mut Findings<'_>) -> Option<String> {
    let text = node.text(found, EXPRESSION)?;
    match check_expression(text) {
        Ok(()) => Some(text.to_owned()),
        Err(error) => {
            found.problem(node.offset, &node.at, error.to_string());
            None
        }
    }
}

fn condition(section: &Section<'_>, key: &str, found: &mut Findings<'_>) -> Option<String> {
    section.get(key).and_then(|node| expression(&node, found))
}

fn columns(node: &Node<'_>, found: &mut Findings<'_>) -> Option<BTreeMap<String, String>> {
    let section = node.section(found)?;
    let mut columns = BTreeMap::new();
    for node in section.nodes() {
        let column = known_name(node.key, node.key_offset, &node.at, found);
        if let (Some(column), Some(value)) = (column, expression(&node, found)) {
            columns.insert(column, value);
        }
    }
    Some(columns)
}

fn back(section: &Section<'_>, found: &mut Findings<'_>) -> Option<TableBack> {
    let section = section.section("back", found)?;
    section.only(found, BACK, &[]);
    let payload = required(&section, "payload", "\"args\"", found).and_then(|node| expression(&node, found));
    let mut value = |key| condition(&section, key, found);
    Some(TableBack {
        priority: value("priority"),
        run_at: value("run_at"),
        attempts: value("attempts"),
        max_attempts: value("max_attempts"),
        last_error: value("last_error"),
        payload: payload?,
    })
}

/// Least and greatest.
fn priorities(section: &Section<'_>, found: &mut Findings<'_>) -> [i32; 2] {
    let Some(node) = section.get("priorities") else { return [i32::MIN, i32::MAX] };
    let numbers: Option<Vec<i32>> = match node.value {
        DeValue::Array(array) => {
            array.iter().map(|element| element.get_ref().as_integer()?.as_str().parse().ok()).collect()
        }
        _ => None,
    };
    match numbers.as_deref() {
        Some(&[least, greatest]) if least <= 0 && greatest >= 0 => [least, greatest],
        _ => {
            node.refuse(found, "the least and the greatest priority that a job may have, with 0 between them, such as [0, 3]");
            [i32::MIN, i32::MAX]
        }
    }
}

fn notify(section: &Section<'_>, found: &mut Findings<'_>) -> Option<[String; 2]> {
    let node = section.get("notify")?;
    let section = node.section(found)?;
    section.only(found, &["channel", "payload"], &[]);
    let channel = required(&section, "channel", "\"'river_insert'\"", found)?;
    let payload = required(&section, "payload", "\"queue_name\"", found)?;
    Some([expression(&channel, found)?, expression(&payload, found)?])
}

fn also(section: &Section<'_>, found: &mut Findings<'_>) -> Option<Other> {
    section.only(found, &["table", "columns", "only"], &[]);
    let table = required(section, "table", "\"ready_executions\"", found)?;
    let filled = required(section, "columns", "{ job_id = \"queue_id\" }", found)?;
    let only = condition(section, "only", found);
    Some(Other { table: name(&table, found)?, columns: columns(&filled, found)?, only })
}

fn sign(section: &Section<'_>, found: &mut Findings<'_>) -> Option<Sign> {
    section.only(found, &["table", "job", "inserted", "deleted"], &[]);
    let table = required(section, "table", "\"failed_executions\"", found)?;
    let job = required(section, "job", "\"job_id\"", found)?;
    let deleted = section.get("deleted").is_some();
    if deleted == section.get("inserted").is_some() {
        let message = "say what one of its rows means when it is inserted, or when it is deleted, for example inserted = \"started\"";
        found.problem(section.offset, &section.at, message);
        return None;
    }
    let key = if deleted { "deleted" } else { "inserted" };
    let known = [
        ("started", Means::Started),
        ("succeeded", Means::Succeeded),
        ("dead", Means::Dead),
        ("removed", Means::Removed),
        ("returned", Means::Returned),
    ];
    let means = choice(section, key, &known, found)?;
    Some(Sign { table: name(&table, found)?, job: name(&job, found)?, means, deleted })
}

/// One of a few words, else the first of them.
fn word<T: Copy + Default>(
    section: &Section<'_>,
    key: &str,
    words: &[(&str, T)],
    found: &mut Findings<'_>,
) -> T {
    choice(section, key, words, found).unwrap_or_default()
}

fn choice<T: Copy>(
    section: &Section<'_>,
    key: &str,
    words: &[(&str, T)],
    found: &mut Findings<'_>,
) -> Option<T> {
    let node = section.get(key)?;
    let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let text = node.text(found, &format!("one of {}", known.join(", ")))?;
    let chosen = words.iter().find(|(word, _)| *word == text);
    if chosen.is_none() {
        let hint = suggest::hint(text, &known, "known:");
        found.problem(node.offset, &node.at, format!("{text:?} is not known here{hint}"));
    }
    chosen.map(|(_, value)| *value)
}
