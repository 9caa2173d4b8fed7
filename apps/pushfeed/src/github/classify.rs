//! What a response means: for the budget, and for whom it was asked.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate::budget::{Answer, Verdict};

use super::ApiResponse;

/// A response, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// For the budget.
    pub answer: Answer,
    /// For whom it was asked.
    pub kind: Kind,
    /// How long the server asks to wait with this request.
    pub retry_after: Option<Duration>,
}

/// What a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 200 with a body.
    Document,
    /// 304.
    NotModified,
    /// 301, 302, 303, 307, 308.
    Redirect,
    /// The window is spent.
    PrimaryLimit,
    /// The server asks this address to pause.
    SecondaryLimit,
    /// 5xx: it may be better next time.
    ServerError,
    /// It will not be better next time: other 4xx, and whatever is not foreseen.
    Refused,
}

/// Understands a response that came at `now`. `authenticated`: GitHub does not count a 304 then.
///
/// A 403 or 429 is a limit only with a sign of one: nothing remains, `Retry-After`, or words of a rate limit or of abuse in the body or its documentation link;
/// a 429 is a sign itself. Refusals of access, blocked repositories and a missing User-Agent have none.
#[must_use]
pub fn classify(response: &ApiResponse, authenticated: bool, now: DateTime<Utc>) -> Classified {
    let retry_after = response.headers.retry_after(now);
    let kind = kind(response);
    let verdict = match kind {
        Kind::NotModified if authenticated => Verdict::Free,
        Kind::Document | Kind::NotModified => Verdict::Clean,
        Kind::PrimaryLimit => Verdict::PrimaryLimit,
        Kind::SecondaryLimit => Verdict::SecondaryLimit(retry_after),
        Kind::Redirect | Kind::ServerError | Kind::Refused => Verdict::Unrelated,
    };
    Classified { answer: Answer { headers: response.headers.limit(), verdict }, kind, retry_after }
}

fn kind(response: &ApiResponse) -> Kind {
    match response.status {
        200 => Kind::Document,
        304 => Kind::NotModified,
        301 | 302 | 303 | 307 | 308 => Kind::Redirect,
        403 | 429 => limit(response).unwrap_or(Kind::Refused),
        500..=599 => Kind::ServerError,
        _ => Kind::Refused,
    }
}

fn limit(response: &ApiResponse) -> Option<Kind> {
    let words = String::from_utf8_lossy(&response.body).to_ascii_lowercase();
    let headers = &response.headers;
    let told = ["secondary rate", "secondary-rate", "abuse"].iter().any(|word| words.contains(word));
    let spent = headers.remaining() == Some(0);
    if spent && !told && headers.limit().is_some() {
        return Some(Kind::PrimaryLimit);
    }
    let sign = told
        || spent
        || headers.get("retry-after").is_some()
        || ["rate limit", "rate-limit", "ratelimit"].iter().any(|word| words.contains(word))
        || response.status == 429;
    sign.then_some(Kind::SecondaryLimit)
}
