//! Headers, and the numbers in them.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate::budget::{LimitHeaders, retry_after};

/// Headers of a response, names in lower case.
#[derive(Debug, Clone, Default)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The first header of this name, which is in lower case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.trim().parse().ok()
    }

    /// The limit headers, if they came whole.
    #[must_use]
    pub fn limit(&self) -> Option<LimitHeaders> {
        Some(LimitHeaders {
            resource: self.get("x-ratelimit-resource").map(|resource| resource.trim().to_owned()),
            limit: self.number("x-ratelimit-limit")?,
            remaining: self.number("x-ratelimit-remaining")?,
            reset_at: DateTime::from_timestamp(self.number("x-ratelimit-reset")?, 0)?,
        })
    }

    /// What remains, however incomplete the others are.
    #[must_use]
    pub fn remaining(&self) -> Option<u32> {
        self.number("x-ratelimit-remaining")
    }

    /// How long `Retry-After` asks to wait; None when it says nothing.
    #[must_use]
    pub fn retry_after(&self, now: DateTime<Utc>) -> Option<Duration> {
        retry_after(self.get("retry-after")?, now)
    }

    /// The seconds of `X-Poll-Interval`.
    #[must_use]
    pub fn poll_interval(&self) -> Option<u32> {
        self.number("x-poll-interval").filter(|seconds| *seconds <= 86_400)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let lower = |(name, value): (K, V)| (name.into().to_ascii_lowercase(), value.into());
        Self(pairs.into_iter().map(lower).collect())
    }
}
