//! Number literals as PostgreSQL's numeric stores them, when that is a 64-bit integer.

/// Where PostgreSQL refuses an exponent outright.
const EXPONENT_LIMIT: i64 = i32::MAX as i64 / 2;
/// Digits of the longest 64-bit integer.
const DIGITS: i64 = 19;

/// The integer that a JSON number literal is to jsonb: a literal of `d` decimals and exponent `e` has scale
/// `max(0, d - e)`, and only scale 0 prints without a fraction. So `1e2` is 100, while `1.0` and `100e-2` are refused.
pub(super) fn normalise(literal: &str) -> Option<i64> {
    let (negative, unsigned) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, literal),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if exponent.abs() >= EXPONENT_LIMIT {
        return None;
    }
    let zeros = exponent - i64::try_from(decimals.len()).ok()?;
    if zeros < 0 {
        return None;
    }
    let digits = format!("{whole}{decimals}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    if zeros > DIGITS || i64::try_from(digits.len()).ok()? + zeros > DIGITS {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    let zeros = "0".repeat(usize::try_from(zeros).ok()?);
    format!("{sign}{digits}{zeros}").parse().ok()
}
