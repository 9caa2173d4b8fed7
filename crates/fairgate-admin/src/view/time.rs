//! Times as people read them; all of them by the database's clock, in UTC.

use chrono::{DateTime, TimeDelta, Utc};
use maud::{Markup, html};

/// `12s`, `3m 5s`, `2d 4h`; milliseconds below one second.
pub(crate) fn span(delta: TimeDelta) -> String {
    let seconds = delta.num_seconds();
    if seconds < 1 {
        return format!("{} ms", delta.num_milliseconds().max(0));
    }
    let units = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let first = units.iter().position(|(_, length)| seconds >= *length).unwrap_or(units.len() - 1);
    let mut left = seconds;
    let mut parts = Vec::new();
    for (name, length) in units.iter().skip(first).take(2) {
        let number = left / length;
        left %= length;
        if number > 0 {
            parts.push(format!("{number}{name}"));
        }
    }
    parts.join(" ")
}

/// A span of so many seconds.
pub(crate) fn seconds(seconds: f64) -> String {
    let millis = (seconds * 1000.0).clamp(0.0, 1e15);
    span(TimeDelta::milliseconds(millis as i64))
}

/// How long ago; the instant itself is the title.
pub(crate) fn ago(now: DateTime<Utc>, then: DateTime<Utc>) -> Markup {
    let delta = now - then;
    let text =
        if delta < TimeDelta::seconds(1) { "just now".to_owned() } else { format!("{} ago", span(delta)) };
    stamp(then, &text)
}

/// How long since.
pub(crate) fn since(now: DateTime<Utc>, then: DateTime<Utc>) -> Markup {
    stamp(then, &span(now - then))
}

/// In how long, or `now`.
pub(crate) fn until(now: DateTime<Utc>, then: DateTime<Utc>) -> Markup {
    let text = if then > now { format!("in {}", span(then - now)) } else { "now".to_owned() };
    stamp(then, &text)
}

/// The instant, to the second.
pub(crate) fn at(then: DateTime<Utc>) -> Markup {
    stamp(then, &then.format("%Y-%m-%d %H:%M:%S").to_string())
}

fn stamp(then: DateTime<Utc>, text: &str) -> Markup {
    let exact = then.format("%Y-%m-%d %H:%M:%S%.3f UTC").to_string();
    html! { time datetime=(then.to_rfc3339()) title=(exact) { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_one_or_two_units() {
        let texts: Vec<String> =
            [0, 59, 60, 185, 7_200, 90_061].map(|seconds| span(TimeDelta::seconds(seconds))).into();
        assert_eq!(texts, ["0 ms", "59s", "1m", "3m 5s", "2h", "1d 1h"]);
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(f64::NAN), "0 ms");
    }
}
