//! The header of that name.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::time::since;

/// How long `Retry-After` asks to wait, from `now`: whole seconds, or an HTTP date (RFC 9110, 10.2.3).
/// None for what says nothing: zero, a date that is past, or anything else. Not clamped.
#[must_use]
pub fn retry_after(header: &str, now: DateTime<Utc>) -> Option<Duration> {
    let header = header.trim();
    let wait = if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        // More seconds than 64 bits hold is still a wait.
        Duration::from_secs(header.parse().unwrap_or(u64::from(u32::MAX)))
    } else {
        since(now, DateTime::parse_from_rfc2822(header).ok()?.to_utc())
    };
    (!wait.is_zero()).then_some(wait)
}
