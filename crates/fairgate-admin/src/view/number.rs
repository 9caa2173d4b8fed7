//! Numbers as people read them.

/// `12,345`.
pub(crate) fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}

/// One decimal below 10, none above; `12,345`.
pub(crate) fn amount(number: f64) -> String {
    if !number.is_finite() {
        return "?".to_owned();
    }
    if number.abs() >= 9.95 || number.fract() == 0.0 {
        // A float that is too large becomes the largest number, not a panic.
        count(number.round() as i64)
    } else {
        format!("{number:.1}")
    }
}

/// `1 job`, `2 jobs`.
pub(crate) fn jobs(number: i64) -> String {
    many(number, "job", "jobs")
}

/// A number and its word.
pub(crate) fn many(number: i64, one: &str, other: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { other })
}

/// `43%`; one decimal below 10.
pub(crate) fn percent(part: f64) -> String {
    format!("{}%", amount(100.0 * part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_parted() {
        let texts = [0, 999, 1_000, -1_234_567].map(count);
        assert_eq!(texts, ["0", "999", "1,000", "-1,234,567"]);
        assert_eq!([0.0, 0.25, 9.94, 9.96, 1234.5].map(amount), ["0", "0.2", "9.9", "10", "1,235"]);
    }
}
