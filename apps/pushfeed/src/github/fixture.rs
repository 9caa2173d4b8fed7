//! Files that answer in GitHub's place. An address that they do not know is an error, never a request.
//!
//! A scenario is `{"like": NAME, "answers": {PATH: [ANSWER, ...]}}`: what it does not answer, the scenario it is like does. Answers to one path
//! come in their order, the last one again and again. An answer is `{"status", "headers", "body" or "text"}`; a header `x-ratelimit-reset` or
//! `retry-after` of `+N` means N seconds from now, and an answer whose etag is sent back is a 304.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ApiRequest, ApiResponse, Headers, SendError};

/// The scenarios that are compiled in.
const COMPILED: [(&str, &str); 13] = [
    ("default", include_str!("../../fixtures/default.json")),
    ("not_modified", include_str!("../../fixtures/not_modified.json")),
    ("primary_limit", include_str!("../../fixtures/primary_limit.json")),
    ("secondary_limit", include_str!("../../fixtures/secondary_limit.json")),
    ("server_error", include_str!("../../fixtures/server_error.json")),
    ("recovering", include_str!("../../fixtures/recovering.json")),
    ("redirect", include_str!("../../fixtures/redirect.json")),
    ("hostile_redirect", include_str!("../../fixtures/hostile_redirect.json")),
    ("hostile_link", include_str!("../../fixtures/hostile_link.json")),
    ("not_json", include_str!("../../fixtures/not_json.json")),
    ("gone", include_str!("../../fixtures/gone.json")),
    ("search", include_str!("../../fixtures/search.json")),
    ("strange", include_str!("../../fixtures/strange.json")),
];

/// Answers of a scenario.
#[derive(Debug)]
pub struct Fixture {
    answers: BTreeMap<String, Vec<Canned>>,
    given: Mutex<BTreeMap<String, usize>>,
    clock: fn() -> DateTime<Utc>,
}

/// Why there are no answers.
#[derive(Debug, thiserror::Error)]
pub enum FixtureError {
    /// Nobody knows the scenario.
    #[error("there is no scenario {name:?}{place}; there are {known}")]
    Unknown {
        /// Its name.
        name: String,
        /// Where it was looked for.
        place: String,
        /// Those that are there.
        known: String,
    },
    /// Its file is not a scenario.
    #[error("scenario {name:?}: {error}")]
    Unreadable {
        /// Its name.
        name: String,
        /// What is wrong, and where.
        error: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    like: Option<String>,
    #[serde(default)]
    answers: BTreeMap<String, Vec<Canned>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Canned {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Box<RawValue>>,
    text: Option<String>,
}

impl Fixture {
    /// A scenario, from a folder or from those that are compiled in.
    ///
    /// # Errors
    /// See [`FixtureError`].
    pub fn load(name: &str, folder: Option<&Path>) -> Result<Self, FixtureError> {
        let mut answers = BTreeMap::new();
        let mut next = Some(name.to_owned());
        let mut seen = Vec::new();
        while let Some(name) = next.take().filter(|name| !seen.contains(name)) {
            let text = read(&name, folder)?;
            let scenario: Scenario = serde_json::from_str(&text)
                .map_err(|error| FixtureError::Unreadable { name: name.clone(), error: error.to_string() })?;
            for (path, canned) in scenario.answers {
                answers.entry(path).or_insert(canned);
            }
            next = scenario.like;
            seen.push(name);
        }
        Ok(Self { answers, given: Mutex::default(), clock: Utc::now })
    }

    pub(super) fn answer(&self, request: &ApiRequest) -> Result<ApiResponse, SendError> {
        let path = request.url.path();
        let none = || SendError::NoFixture(request.url.to_string());
        let canned = self.answers.get(path).filter(|canned| !canned.is_empty()).ok_or_else(none)?;
        let mut given = self.given.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let count = given.entry(path.to_owned()).or_default();
        let canned = &canned[(*count).min(canned.len() - 1)];
        *count += 1;
        Ok(canned.response(request.etag.as_deref(), (self.clock)()))
    }
}

impl Canned {
    fn response(&self, etag: Option<&str>, now: DateTime<Utc>) -> ApiResponse {
        let headers: Headers =
            self.headers.iter().map(|(name, value)| (name.clone(), relative(name, value, now))).collect();
        if self.status == 200 && etag.is_some() && headers.get("etag") == etag {
            return ApiResponse { status: 304, headers, body: Vec::new() };
        }
        let body = self.body.as_ref().map(|body| body.get().to_owned()).or_else(|| self.text.clone());
        ApiResponse { status: self.status, headers, body: body.unwrap_or_default().into_bytes() }
    }
}

/// `+N` seconds from now, where a header is a time.
fn relative(name: &str, value: &str, now: DateTime<Utc>) -> String {
    match value.strip_prefix('+').and_then(|seconds| seconds.parse::<i64>().ok()) {
        Some(seconds) if name.eq_ignore_ascii_case("x-ratelimit-reset") => {
            (now.timestamp() + seconds).to_string()
        }
        Some(seconds) => seconds.to_string(),
        None => value.to_owned(),
    }
}

fn read(name: &str, folder: Option<&Path>) -> Result<String, FixtureError> {
    let Some(folder) = folder else {
        let known = COMPILED.map(|(name, _)| name).join(", ");
        let found = COMPILED.iter().find(|(its, _)| *its == name);
        let unknown = || FixtureError::Unknown { name: name.to_owned(), place: String::new(), known };
        return found.map(|(_, text)| (*text).to_owned()).ok_or_else(unknown);
    };
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    std::fs::read_to_string(folder.join(format!("{name}.json"))).ok().filter(|_| plain).ok_or_else(|| {
        FixtureError::Unknown {
            name: name.to_owned(),
            place: format!(" in {}", folder.display()),
            known: "its files NAME.json".to_owned(),
        }
    })
}
