//! Durations as people write them: `500ms`, `1m`, `24h`, `1h30m`.

use std::time::Duration;

/// Units from large to small, with their length in nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// There is no text.
    #[error("a duration is missing; write one such as 500ms, 25s or 1h30m")]
    Empty,
    /// A unit stands where a number should.
    #[error("{text:?} is not a duration: expected a whole number before {rest:?}, as in 1h30m")]
    NoNumber {
        /// The whole text.
        text: String,
        /// What is left of it where a number was expected.
        rest: String,
    },
    /// A number has no unit or an unknown one.
    #[error(
        "{text:?} is not a duration: {unit:?} after {number} is not a unit; use d, h, m, s, ms, us or ns, as in {number}s"
    )]
    BadUnit {
        /// The whole text.
        text: String,
        /// The number before the unit.
        number: String,
        /// The unit found, possibly empty.
        unit: String,
    },
    /// A unit comes twice or after a smaller one.
    #[error("{text:?} is not a duration: units go from large to small, each once, and {unit:?} breaks that")]
    BadOrder {
        /// The whole text.
        text: String,
        /// The unit that is out of place.
        unit: String,
    },
    /// The duration is longer than a [`Duration`] of about 584 years.
    #[error("{text:?} is too long for a duration")]
    TooLong {
        /// The whole text.
        text: String,
    },
}

/// Reads one or more whole numbers with units (`d h m s ms us ns`), large units first, without blanks.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    let whole = || text.to_owned();
    let mut nanos: u64 = 0;
    let mut next_unit = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit());
        let (unit, after) = split(after, |c| !c.is_ascii_digit());
        if number.is_empty() {
            let rest = rest.to_owned();
            let text = whole();
            return Err(DurationError::NoNumber { text, rest });
        }
        let Some(at) = UNITS.iter().position(|(name, _)| *name == unit) else {
            return Err(DurationError::BadUnit {
                text: whole(),
                number: number.to_owned(),
                unit: unit.to_owned(),
            });
        };
        if at < next_unit {
            let unit = unit.to_owned();
            let text = whole();
            return Err(DurationError::BadOrder { text, unit });
        }
        next_unit = at + 1;
        nanos = number
            .parse::<u64>()
            .ok()
            .and_then(|n| n.checked_mul(UNITS[at].1))
            .and_then(|n| nanos.checked_add(n))
            .ok_or_else(|| DurationError::TooLong { text: whole() })?;
        rest = after;
    }
    Ok(Duration::from_nanos(nanos))
}

fn split(text: &str, of: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !of(c)).unwrap_or(text.len()))
}

/// Writes a duration so that [`parse_duration`] gives it back: `90s` is `1m30s`, zero is `0s`.
pub fn format_duration(duration: Duration) -> String {
    let mut left = duration.as_nanos();
    let mut text = String::new();
    for (name, nanos) in UNITS {
        let count = left / u128::from(nanos);
        left %= u128::from(nanos);
        if count > 0 {
            text += &format!("{count}{name}");
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// For `#[serde(with = "duration::text")]`: a duration as its text.
pub mod text {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes the text of a duration.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::format_duration(*duration))
    }

    /// Reads the text of a duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(from)?;
        super::parse_duration(&text).map_err(D::Error::custom)
    }
}
