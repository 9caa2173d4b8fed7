//! Cookies, as few as we need.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is told once on the next page.
pub(crate) const FLASH: &str = "fairgate_told";
/// Browsers keep 4 kB a cookie.
const LONGEST: usize = 2_000;

/// The value of a cookie that the browser sent.
pub(crate) fn get<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|line| line.split(';'))
        .find_map(|pair| pair.trim().split_once('=').filter(|(found, _)| *found == name))
        .map(|(_, value)| value)
}

/// A cookie for the pages below `base`. `seconds`: how long it is kept; none: until the browser ends.
pub(crate) fn set(name: &str, value: &str, base: &str, seconds: Option<u32>) -> Option<HeaderValue> {
    let age = seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    let path = if base.is_empty() { "/" } else { base };
    HeaderValue::from_str(&format!("{name}={value}; Path={path}; HttpOnly; SameSite=Strict{age}")).ok()
}

/// A text as the value of a cookie; what is too long is cut.
pub(crate) fn encode(text: &str) -> String {
    let mut end = text.len().min(LONGEST / 3);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    utf8_percent_encode(&text[..end], NON_ALPHANUMERIC).to_string()
}

/// The text of such a value.
pub(crate) fn decode(value: &str) -> String {
    percent_decode_str(value).decode_utf8_lossy().into_owned()
}
