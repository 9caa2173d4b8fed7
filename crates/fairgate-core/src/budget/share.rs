//! An exact fraction between 0 and 1.

use std::fmt;
use std::str::FromStr;

/// Decimals that a share may have; `10^9 * u32::MAX` fits in 64 bits.
const MAX_DECIMALS: usize = 9;

/// A part of a whole, exactly: 0.29 of 100 is 29.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Share {
    numerator: u64,
    denominator: u64,
}

/// Why something is not a share.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// It is not written as a decimal.
    #[error(
        "{0:?} is not a share: write a decimal from 0 to 1 with at most {MAX_DECIMALS} decimals, as in 0.5"
    )]
    NotADecimal(String),
    /// It is less than 0 or more than 1.
    #[error("{0} is not a share: it must be from 0 to 1")]
    OutOfRange(String),
}

impl Share {
    /// `numerator / denominator`.
    ///
    /// # Errors
    /// When it is not between 0 and 1, or the denominator is zero.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self, ShareError> {
        if denominator == 0 || numerator > denominator {
            return Err(ShareError::OutOfRange(format!("{numerator}/{denominator}")));
        }
        Ok(Self { numerator: numerator.into(), denominator: denominator.into() })
    }

    /// `floor(whole * share)`, without rounding on the way.
    #[must_use]
    pub fn of(self, whole: u32) -> u32 {
        let part = u128::from(self.numerator) * u128::from(whole) / u128::from(self.denominator);
        u32::try_from(part).expect("a share is at most 1, so its part is at most the whole")
    }
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let not = || ShareError::NotADecimal(text.to_owned());
        if text.starts_with('-') && text[1..].parse::<f64>().is_ok() {
            return Err(ShareError::OutOfRange(text.to_owned()));
        }
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let decimals = decimals.trim_end_matches('0');
        if !digits(whole)
            || !digits(decimals)
            || text.is_empty()
            || text == "."
            || decimals.len() > MAX_DECIMALS
        {
            return Err(not());
        }
        let out = || ShareError::OutOfRange(text.to_owned());
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| out())? };
        let denominator = 10_u64.pow(u32::try_from(decimals.len()).expect("at most MAX_DECIMALS"));
        let fraction: u64 =
            if decimals.is_empty() { 0 } else { decimals.parse().expect("at most nine digits") };
        match whole {
            0 => Ok(Self { numerator: fraction, denominator }),
            1 if fraction == 0 => Ok(Self { numerator: 1, denominator: 1 }),
            _ => Err(out()),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}
