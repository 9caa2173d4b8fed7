use chrono::{DateTime, TimeDelta, Utc};

/// How long ago, in one or two units: `12s`, `3m 5s`, `2d 4h`; `0s` for what is still to come.
pub(crate) fn ago(now: DateTime<Utc>, then: DateTime<Utc>) -> String {
    span(now - then)
}

/// How long from now; `0s` for what has passed.
pub(crate) fn until(now: DateTime<Utc>, then: DateTime<Utc>) -> String {
    span(then - now)
}

fn span(delta: TimeDelta) -> String {
    let seconds = delta.num_seconds().max(0);
    let units = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let first = units.iter().position(|(_, length)| seconds >= *length).unwrap_or(units.len() - 1);
    let mut left = seconds;
    let mut parts = Vec::new();
    for (name, length) in units.iter().skip(first).take(2) {
        let count = left / length;
        left %= length;
        if count > 0 || parts.is_empty() {
            parts.push(format!("{count}{name}"));
        }
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_one_or_two_units() {
        let texts: Vec<String> =
            [-5, 0, 59, 60, 185, 7_200, 90_061].map(|seconds| span(TimeDelta::seconds(seconds))).into();
        assert_eq!(texts, ["0s", "0s", "59s", "1m", "3m 5s", "2h", "1d 1h"]);
    }
}
