//! One event: a push, something else, or a bad one with a lasting code.

use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use crate::json::{self, Json, Text};

/// The type that is kept.
const PUSH: &str = "PushEvent";

/// What an element of a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A push, with all that is needed of it.
    Push(Box<Push>),
    /// Another type, which is ignored and counted.
    Other,
    /// Neither: kept aside.
    Bad(Bad),
}

/// A push event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// GitHub's id, which may be used again.
    pub github_id: i64,
    /// When GitHub says that it happened.
    pub created_at: DateTime<Utc>,
    /// Who pushed.
    pub actor: Actor,
    /// Where to.
    pub repository: Repository,
    /// GitHub's id of the push; old ones may lack it.
    pub push_id: Option<i64>,
    /// The branch or tag.
    pub git_ref: String,
    /// The commit after it.
    pub head: String,
    /// The commit before it; old ones lack it.
    pub before: Option<String>,
    /// Whether GitHub says that it is public.
    pub public: Option<bool>,
}

/// What an event says of an actor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// GitHub's id.
    pub id: i64,
    /// The name.
    pub login: String,
    /// The name as it is shown.
    pub display_login: Option<String>,
    /// Where its document is, unchecked.
    pub api_url: Option<String>,
    /// Its picture.
    pub avatar_url: Option<String>,
}

/// What an event says of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// GitHub's id.
    pub id: i64,
    /// Owner and name.
    pub full_name: String,
    /// Where its document is, unchecked.
    pub api_url: Option<String>,
}

/// A bad event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    /// What is wrong with it; codes never change.
    pub code: &'static str,
    /// Where.
    pub detail: String,
    /// SHA-256 of its canonical form: the same bad event again is the same.
    pub fingerprint: [u8; 32],
}

/// How old an event may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As the feed sends them now.
    Live,
    /// From an archive, where old ones lack `repository_id`, `push_id` and `before`.
    Archived,
}

struct Fault(&'static str, String);

/// Reads one element of a page. Never fails: what cannot be read is bad.
#[must_use]
pub fn read(text: &str, shape: Shape) -> Event {
    let event = match json::parse(text) {
        Ok(event) => event,
        // Only nesting beyond measure comes here; its text is its own canonical form.
        Err(error) => return bad(Fault("bad_envelope", error.to_string()), text.as_bytes()),
    };
    match envelope(&event).and_then(|kind| (kind == PUSH).then(|| push(&event, shape)).transpose()) {
        Ok(Some(push)) => Event::Push(Box::new(push)),
        Ok(None) => Event::Other,
        Err(fault) => bad(fault, &event.canonical()),
    }
}

fn bad(Fault(code, detail): Fault, canonical: &[u8]) -> Event {
    Event::Bad(Bad { code, detail, fingerprint: Sha256::digest(canonical).into() })
}

fn envelope(event: &Json) -> Result<&str, Fault> {
    let fault = |what: &str| Fault("bad_envelope", what.to_owned());
    if !matches!(event, Json::Object(_)) {
        return Err(fault("the event is no object"));
    }
    event.get("type").and_then(Json::as_str).ok_or_else(|| fault("type is no text"))
}

fn push(event: &Json, shape: Shape) -> Result<Push, Fault> {
    let archived = shape == Shape::Archived;
    let repository_id = id(event, "repo.id")?;
    let told = optional(event, "payload.repository_id", id)?;
    match told {
        Some(told) if told != repository_id => {
            let detail = format!("payload.repository_id is {told}, repo.id is {repository_id}");
            return Err(Fault("repository_mismatch", detail));
        }
        None if !archived => return Err(missing("payload.repository_id")),
        _ => {}
    }
    let before = optional(event, "payload.before", sha)?;
    let push_id = optional(event, "payload.push_id", id)?;
    if !archived && (before.is_none() || push_id.is_none()) {
        return Err(missing(if before.is_none() { "payload.before" } else { "payload.push_id" }));
    }
    let created_at = text(event, "created_at")?;
    let created_at = DateTime::parse_from_rfc3339(&created_at)
        .map_err(|_| Fault("wrong_type", "created_at is no time".to_owned()))?;
    Ok(Push {
        github_id: id(event, "id")?,
        created_at: created_at.to_utc(),
        actor: Actor {
            id: id(event, "actor.id")?,
            login: text(event, "actor.login")?,
            display_login: optional(event, "actor.display_login", text)?,
            api_url: optional(event, "actor.url", text)?,
            avatar_url: optional(event, "actor.avatar_url", text)?,
        },
        repository: Repository {
            id: repository_id,
            full_name: text(event, "repo.name")?,
            api_url: optional(event, "repo.url", text)?,
        },
        push_id,
        git_ref: text(event, "payload.ref")?,
        head: sha(event, "payload.head")?,
        before,
        public: optional(event, "public", flag)?,
    })
}

fn missing(path: &str) -> Fault {
    Fault("missing_field", format!("{path} is missing"))
}

/// The value at a path of keys; null is there.
fn find<'e>(event: &'e Json, path: &str) -> Option<&'e Json> {
    path.split('.').try_fold(event, |value, key| value.get(key))
}

fn required<'e>(event: &'e Json, path: &str) -> Result<&'e Json, Fault> {
    find(event, path).ok_or_else(|| missing(path))
}

fn wrong(path: &str, expected: &str) -> Fault {
    Fault("wrong_type", format!("{path} is no {expected}"))
}

fn optional<T>(
    event: &Json,
    path: &str,
    read: fn(&Json, &str) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    match find(event, path) {
        None | Some(Json::Null) => Ok(None),
        Some(_) => read(event, path).map(Some),
    }
}

fn flag(event: &Json, path: &str) -> Result<bool, Fault> {
    match required(event, path)? {
        Json::Bool(flag) => Ok(*flag),
        _ => Err(wrong(path, "true or false")),
    }
}

/// Text that a column can hold.
fn text(event: &Json, path: &str) -> Result<String, Fault> {
    match required(event, path)? {
        Json::Text(Text::Unicode(text)) if text.contains('\0') => {
            Err(Fault("unstorable_text", format!("{path} has a NUL")))
        }
        Json::Text(Text::Unicode(text)) if !text.is_empty() => Ok(text.clone()),
        Json::Text(Text::Unicode(_)) => Err(Fault("missing_field", format!("{path} is empty"))),
        Json::Text(Text::Broken(_)) => {
            Err(Fault("unstorable_text", format!("{path} has half of a surrogate pair")))
        }
        _ => Err(wrong(path, "text")),
    }
}

/// An id: digits, written as a number or as text; GitHub does both.
fn id(event: &Json, path: &str) -> Result<i64, Fault> {
    let digits = match required(event, path)? {
        Json::Number(number) => number,
        Json::Text(Text::Unicode(text)) => text,
        _ => return Err(wrong(path, "id")),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(path, "id"));
    }
    let range = || Fault("id_out_of_range", format!("{path} does not fit in 64 bits"));
    digits
        .parse()
        .map_err(|_| range())
        .and_then(|id: i64| if id > 0 { Ok(id) } else { Err(wrong(path, "id")) })
}

fn sha(event: &Json, path: &str) -> Result<String, Fault> {
    let sha = text(event, path)?;
    let good = matches!(sha.len(), 40 | 64) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    if good { Ok(sha) } else { Err(Fault("bad_sha", format!("{path} is not 40 or 64 hexadecimal digits"))) }
}
