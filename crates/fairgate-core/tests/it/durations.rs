use std::time::Duration;

use fairgate_core::{DurationError, format_duration, parse_duration};
use proptest::prelude::*;

#[test]
fn durations_are_read_as_people_write_them() {
    for (text, millis) in [
        ("500ms", 500),
        ("25s", 25_000),
        ("1m", 60_000),
        ("24h", 86_400_000),
        ("1d", 86_400_000),
        ("0s", 0),
        ("1h30m", 5_400_000),
        ("1d2h3m4s5ms", 93_784_005),
    ] {
        let duration = Duration::from_millis(millis);
        assert_eq!(parse_duration(text), Ok(duration), "{text}");
    }
}

#[test]
fn durations_are_written_in_their_shortest_form() {
    assert_eq!(format_duration(Duration::from_secs(90)), "1m30s");
    assert_eq!(format_duration(Duration::ZERO), "0s");
    assert_eq!(format_duration(Duration::from_millis(86_400_500)), "1d500ms");
}

#[test]
fn a_bad_duration_says_what_to_write() {
    assert_eq!(parse_duration(""), Err(DurationError::Empty));
    for bad in ["s", "30", "1.5s", "-1s", "1 s", "1w", "1m1h", "1s1s", "99999999999d", "1M"] {
        assert!(parse_duration(bad).is_err(), "{bad}");
    }
    assert_eq!(
        parse_duration("30").unwrap_err().to_string(),
        "\"30\" is not a duration: \"\" after 30 is not a unit; use d, h, m, s, ms, us or ns, as in 30s"
    );
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(nanos: u64) {
        let duration = Duration::from_nanos(nanos);
        prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
    }
}
