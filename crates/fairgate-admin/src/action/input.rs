//! What people type, read with care: a blank or silly value gets a sentence.

use std::collections::HashMap;
use std::time::Duration;

use fairgate_core::duration::parse_duration;

/// A value that is not blank.
pub(super) fn text<'a>(fields: &'a HashMap<String, String>, name: &str) -> Result<&'a str, String> {
    let value = fields.get(name).map_or("", |value| value.trim());
    if value.is_empty() { Err(format!("\"{name}\" is blank; fill it in")) } else { Ok(value) }
}

/// A whole number within bounds.
pub(super) fn whole(
    fields: &HashMap<String, String>,
    name: &str,
    least: u32,
    most: u32,
) -> Result<u32, String> {
    let value = text(fields, name)?;
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("\"{name}\" is {value:?}; give a whole number from {least} to {most}"))
}

/// A number from 0 up.
pub(super) fn number(fields: &HashMap<String, String>, name: &str) -> Result<f64, String> {
    let value = text(fields, name)?;
    let number = value.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("\"{name}\" is {value:?}; give a number from 0 up"))
}

/// A time such as 1h30m.
pub(super) fn duration(fields: &HashMap<String, String>, name: &str) -> Result<Duration, String> {
    parse_duration(text(fields, name)?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silly_values_get_a_sentence() {
        let fields = |value: &str| HashMap::from([("count".to_owned(), value.to_owned())]);
        for silly in ["", "  ", "x", "-1", "0", "1.5", "99999999999999999999", "101"] {
            let told = whole(&fields(silly), "count", 1, 100).expect_err(silly);
            assert!(told.contains("count"), "{told}");
        }
        assert_eq!(whole(&fields(" 7 "), "count", 1, 100), Ok(7));
        for silly in ["", "NaN", "inf", "-0.1", "1e999"] {
            assert!(number(&fields(silly), "count").is_err(), "{silly}");
        }
        assert!(duration(&fields("1 hour"), "count").is_err());
    }
}
