//! Instants in whole microseconds, the resolution of the database, and arithmetic on them that cannot overflow.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// 9999-12-31T00:00:00Z in microseconds: the last retry time that is ever given.
const HORIZON_MICROS: i64 = 253_402_214_400_000_000;

pub(crate) fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

/// The instant `micros` after the epoch, at most the horizon.
pub(crate) fn instant(micros: i128) -> DateTime<Utc> {
    let clamped = micros.clamp(0, i128::from(HORIZON_MICROS));
    let clamped = i64::try_from(clamped).expect("clamped to the horizon, which is an i64");
    DateTime::from_timestamp_micros(clamped).expect("between 1970 and the year 9999")
}

/// `at + wait`, at most the horizon, and never before `at`.
pub(crate) fn later(at: DateTime<Utc>, wait: Duration) -> DateTime<Utc> {
    let wait = i128::try_from(wait.as_micros()).unwrap_or(i128::MAX);
    instant(i128::from(micros(at)).saturating_add(wait)).max(at)
}

/// The time from `earlier` to `now`; zero when the clock went back.
pub(crate) fn since(earlier: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
    now.signed_duration_since(earlier).to_std().unwrap_or_default()
}
