//! What is seen of the jobs that were admitted.

use std::cmp::Ordering;

use chrono::{DateTime, Utc};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::time::micros;

/// What a job that ended has to teach. JSON: `[admitted_at, lag_ms, "s"]`: microseconds since the epoch, milliseconds, outcome.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// When it was admitted.
    pub admitted_at: DateTime<Utc>,
    /// Milliseconds from its admission to its start, which is before it runs. Not negative.
    pub lag_ms: f64,
    /// How it ended.
    pub outcome: JobOutcome,
}

/// How a job ended. In order of caution: what speaks most for a smaller cap comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum JobOutcome {
    /// It failed. JSON: `"f"`.
    #[serde(rename = "f")]
    Failed,
    /// It succeeded. JSON: `"s"`.
    #[serde(rename = "s")]
    Success,
    /// It says nothing about the load. JSON: `"i"`.
    #[serde(rename = "i")]
    Ignored,
}

impl Observation {
    /// Reads the text of a JSON array of observations. Elements that are none are left out: the tick must go on.
    pub fn parse_all(text: Option<&str>) -> Vec<Self> {
        let elements = text.and_then(|text| serde_json::from_str::<Vec<&RawValue>>(text).ok());
        let elements = elements.unwrap_or_default().into_iter();
        elements.filter_map(|element| serde_json::from_str(element.get()).ok()).collect()
    }

    /// The order in which observations are folded, whatever the order in which they were reported: that of the jobs' starts
    /// (`admitted_at + lag`), then of their admissions, then of their outcomes as [`JobOutcome`] lists them.
    pub fn fold_order(&self, other: &Self) -> Ordering {
        let start = |o: &Self| o.lag_ms.mul_add(1_000.0, micros(o.admitted_at) as f64);
        start(self)
            .total_cmp(&start(other))
            .then_with(|| self.admitted_at.cmp(&other.admitted_at))
            .then_with(|| self.outcome.cmp(&other.outcome))
            .then_with(|| self.lag_ms.total_cmp(&other.lag_ms))
    }
}

impl Serialize for Observation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (micros(self.admitted_at), self.lag_ms, self.outcome).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Observation {
    /// A negative lag, which clocks that disagree give, counts as none.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (admitted_at, lag_ms, outcome): (i64, f64, JobOutcome) = Deserialize::deserialize(from)?;
        let admitted_at = DateTime::from_timestamp_micros(admitted_at)
            .ok_or_else(|| D::Error::custom("the admission is out of range"))?;
        if !lag_ms.is_finite() {
            return Err(D::Error::custom("the lag is not finite"));
        }
        Ok(Self { admitted_at, lag_ms: lag_ms.max(0.0), outcome })
    }
}
