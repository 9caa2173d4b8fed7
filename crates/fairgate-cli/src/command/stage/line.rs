//! One line of an NDJSON file as a job.

use std::borrow::Cow;
use std::fmt;

use chrono::DateTime;
use fairgate::config::nearest;
use fairgate::{NewJob, PartitionKey};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// The keys that `fairgate.stage_many` takes.
const KEYS: [&str; 9] = [
    "task",
    "payload",
    "context",
    "partition_key",
    "priority",
    "run_at",
    "dedupe_key",
    "queue_name",
    "max_attempts",
];

/// An object as its keys and the text of its values, in their order.
struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry::<String, &RawValue>()? {
                    fields.push((entry.0.into(), entry.1));
                }
                Ok(Fields(fields))
            }
        }
        from.deserialize_map(Object)
    }
}

/// Reads a line, or says what is wrong with it. The payload's bytes are kept.
pub(super) fn parse(text: &str) -> Result<NewJob, String> {
    let Fields(fields) = match text.as_bytes() {
        [b'{', ..] => serde_json::from_str(text).map_err(|error| not_json(&error))?,
        _ => {
            let kind = serde_json::from_str(text).map(kind).map_err(|error| not_json(&error))?;
            return Err(format!("is {kind}, not an object"));
        }
    };
    let mut job = NewJob::new(task(&fields)?);
    let mut seen: Vec<&str> = Vec::new();
    for (key, raw) in &fields {
        if seen.contains(&key.as_ref()) {
            return Err(format!("{key} stands there twice"));
        }
        seen.push(key);
        job = field(job, key, raw)?;
    }
    Ok(job)
}

fn task(fields: &[(Cow<'_, str>, &RawValue)]) -> Result<String, String> {
    match fields.iter().find(|(key, _)| key == "task") {
        None => Err("task is missing".to_owned()),
        Some((_, raw)) => match text("task", raw)? {
            task if task.is_empty() => Err("task is empty".to_owned()),
            task => Ok(task),
        },
    }
}

/// Sets one field of a job. What is `null` is left out, but for the payload.
fn field(job: NewJob, key: &str, raw: &RawValue) -> Result<NewJob, String> {
    if raw.get() == "null" && KEYS.contains(&key) && key != "payload" {
        return Ok(job);
    }
    Ok(match key {
        "task" => job,
        "payload" => job.payload_json(raw.get()).map_err(|error| error.to_string())?,
        "context" => job.context(&raw).map_err(|error| error.to_string())?,
        "partition_key" => {
            let key = PartitionKey::try_from(word(key, raw)?).map_err(|error| error.to_string())?;
            job.partition_key(key)
        }
        "dedupe_key" => job.dedupe_key(word(key, raw)?),
        "queue_name" => job.queue_name(text(key, raw)?),
        "priority" => job.priority(whole(key, raw)?),
        "max_attempts" => job.max_attempts(whole(key, raw)?),
        "run_at" => {
            let time = text(key, raw)?;
            let time = DateTime::parse_from_rfc3339(&time).map_err(|_| {
                format!("run_at {:?} is not a time; write 2030-01-31T12:00:00Z", shown(&time))
            })?;
            job.run_at(time.to_utc())
        }
        unknown => {
            return Err(match nearest(unknown, KEYS) {
                Some(known) => format!("unknown key {:?}; did you mean \"{known}\"?", shown(unknown)),
                None => format!("unknown key {:?}; the keys are {}", shown(unknown), KEYS.join(", ")),
            });
        }
    })
}

/// A text that PostgreSQL can hold.
fn text(name: &str, raw: &RawValue) -> Result<String, String> {
    let text: String =
        serde_json::from_str(raw.get()).map_err(|_| format!("{name} must be a text, not {}", kind(raw)))?;
    if text.contains('\0') {
        return Err(format!(
            "{name} holds a NUL (\\u0000), which PostgreSQL cannot store outside the payload"
        ));
    }
    Ok(text)
}

/// A text, or the text of a number or a boolean, as SQL reads it.
fn word(name: &str, raw: &RawValue) -> Result<String, String> {
    match raw.get().as_bytes() {
        [b'"', ..] => text(name, raw),
        [b'{' | b'[', ..] => Err(format!("{name} must be a text, a number or a boolean")),
        _ => Ok(raw.get().to_owned()),
    }
}

fn whole(name: &str, raw: &RawValue) -> Result<i32, String> {
    serde_json::from_str(raw.get()).map_err(|_| {
        let found = match kind(raw) {
            "a number" => shown(raw.get()),
            kind => kind.into(),
        };
        format!("{name} must be a whole number from {} to {}, not {found}", i32::MIN, i32::MAX)
    })
}

fn kind(raw: &RawValue) -> &'static str {
    match raw.get().as_bytes() {
        [b'"', ..] => "a text",
        [b'{', ..] => "an object",
        [b'[', ..] => "an array",
        [b't' | b'f', ..] => "a boolean",
        [b'n', ..] => "null",
        _ => "a number",
    }
}

/// So much of a text as helps to find it.
fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Where a line stops being one JSON value.
fn not_json(error: &serde_json::Error) -> String {
    let column = error.column();
    let words = error.to_string();
    if error.classify() == Category::Eof {
        "not JSON: it ends in the middle of a value".to_owned()
    } else if words.starts_with("trailing characters") {
        format!("something follows the object (column {column}); write one object a line")
    } else if words.starts_with("recursion limit") {
        "is nested too deep".to_owned()
    } else {
        format!("not JSON (column {column})")
    }
}
