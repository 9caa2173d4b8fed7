//! Recent activity: admitted jobs, forgotten by half every half-life.

use std::time::Duration;

/// Past it everything is forgotten: `exp` of less gives floats so small that the database's arithmetic calls them an underflow.
const LARGEST_EXPONENT: f64 = 700.0;

/// What is left of `value` after `elapsed`: `value * exp(-elapsed * ln 2 / half_life)`. Without a half-life activity does
/// not count and nothing is left. Zero for a value that is not a positive number, and after years.
pub fn decayed(value: f64, elapsed: Duration, half_life: Option<Duration>) -> f64 {
    let Some(half_life) = half_life.filter(|half_life| !half_life.is_zero()) else {
        return 0.0;
    };
    if !value.is_finite() || value <= 0.0 {
        return 0.0;
    }
    let exponent = elapsed.as_secs_f64() * std::f64::consts::LN_2 / half_life.as_secs_f64();
    if exponent > LARGEST_EXPONENT {
        return 0.0;
    }
    value * (-exponent).exp()
}
