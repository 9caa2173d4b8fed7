//! A lane's clock.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Ticks in one unit of cost / weight.
const UNIT: f64 = 1e12;
/// What one step may move at most, in units: far more than any batch of jobs costs, and added a million times it still fits.
const LONGEST_STEP: f64 = 1e20;

/// A point in the virtual time of a lane, in units of cost / weight (jobs or worker seconds).
///
/// A fixed-point number with a resolution of 1e-12, which a job of the largest weight still moves, and a range that a
/// million jobs a second of the smallest weight do not leave in a million years. A float would lose one or the other.
/// Additions saturate. JSON and text: the whole number of 1e-12 units, as text (`"1500000000000"` is 1.5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VirtualTime(i128);

impl VirtualTime {
    /// Where every lane starts.
    pub const ZERO: Self = Self(0);

    /// This point moved by `by` units; NaN moves nothing.
    #[must_use]
    pub fn plus(self, by: f64) -> Self {
        Self(self.0.saturating_add(ticks(by)))
    }

    /// The units from `earlier` to this point; negative when this point comes first.
    pub fn since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / UNIT
    }
}

/// Units as ticks. The cast takes NaN to 0.
fn ticks(units: f64) -> i128 {
    (units.clamp(-LONGEST_STEP, LONGEST_STEP) * UNIT).round() as i128
}

impl fmt::Display for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for VirtualTime {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Serialize for VirtualTime {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for VirtualTime {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
