//! The string escapes that JSON allows and PostgreSQL's jsonb does not: NUL and lone surrogates.

use super::ContextError;

/// Looks at every escape of a text that is already known to be JSON.
pub(super) fn check(json: &str) -> Result<(), ContextError> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|&b| b == b'\\') {
        at += found;
        let Some(unit) = unit(bytes, at) else {
            at += 2;
            continue;
        };
        let what = match unit {
            0 => "an escaped NUL (\\u0000)",
            0xD800..=0xDBFF if is_low(bytes, at + 6) => {
                at += 12;
                continue;
            }
            0xD800..=0xDFFF => "half of a surrogate pair",
            _ => {
                at += 6;
                continue;
            }
        };
        return Err(ContextError::NotStorable { what, at });
    }
    Ok(())
}

fn is_low(bytes: &[u8], at: usize) -> bool {
    unit(bytes, at).is_some_and(|unit| (0xDC00..=0xDFFF).contains(&unit))
}

/// The code unit of the `\uXXXX` at `at`, if one stands there.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(escape).ok()?, 16).ok()
}
