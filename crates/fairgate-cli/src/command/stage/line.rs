//! One line of an NDJSON file as a job.

use std::borrow::Cow;

use chrono::DateTime;
use fairgate::{NewJob, PartitionKey};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The keys that `fairgate.stage_many` takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    task: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    context: Option<&'a RawValue>,
    #[serde(borrow)]
    partition_key: Option<&'a RawValue>,
    priority: Option<i32>,
    run_at: Option<String>,
    #[serde(borrow)]
    dedupe_key: Option<&'a RawValue>,
    queue_name: Option<String>,
    max_attempts: Option<i32>,
}

/// A payload of `null` is a payload.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(from: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Reads a line, or says what is wrong with it. The payload's bytes are kept.
pub(super) fn parse(text: &str) -> Result<NewJob, String> {
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| without_line(&error))?;
    if line.task.is_empty() {
        return Err("task is empty".to_owned());
    }
    let mut job = NewJob::new(line.task);
    if let Some(payload) = line.payload {
        job = job.payload_json(payload.get()).map_err(|error| error.to_string())?;
    }
    if let Some(context) = line.context {
        job = job.context(&context).map_err(|error| error.to_string())?;
    }
    if let Some(key) = line.partition_key {
        let key = PartitionKey::try_from(word("partition_key", key)?).map_err(|error| error.to_string())?;
        job = job.partition_key(key);
    }
    if let Some(key) = line.dedupe_key {
        job = job.dedupe_key(word("dedupe_key", key)?);
    }
    if let Some(time) = line.run_at {
        let time = DateTime::parse_from_rfc3339(&time)
            .map_err(|_| format!("run_at {time:?} is not a time; write 2030-01-31T12:00:00Z"))?;
        job = job.run_at(time.to_utc());
    }
    if let Some(name) = line.queue_name {
        job = job.queue_name(name);
    }
    if let Some(attempts) = line.max_attempts {
        job = job.max_attempts(attempts);
    }
    Ok(job.priority(line.priority.unwrap_or(0)))
}

/// A text, or the text of a number or a boolean, as SQL reads it.
fn word(name: &str, raw: &RawValue) -> Result<String, String> {
    match raw.get().as_bytes() {
        [b'"', ..] => serde_json::from_str(raw.get()).map_err(|error| format!("{name}: {error}")),
        [b'{' | b'[', ..] => Err(format!("{name} must be a text, a number or a boolean")),
        _ => Ok(raw.get().to_owned()),
    }
}

/// The words of a JSON error without its line, which is always the first.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let words = text.rsplit_once(" at line ").map_or(text.as_str(), |(words, _)| words);
    let lead = if error.is_data() { "" } else { "not JSON: " };
    match error.column() {
        0 => format!("{lead}{words}"),
        column => format!("{lead}{words} (column {column})"),
    }
}
