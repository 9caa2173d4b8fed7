//! One form for all ways to write a value.

use super::{Json, Text};

pub(super) fn write(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend(b"null"),
        Json::Bool(true) => out.extend(b"true"),
        Json::Bool(false) => out.extend(b"false"),
        Json::Number(number) => out.extend(number.as_bytes()),
        Json::Text(text) => write_text(text, out),
        Json::Array(items) => {
            out.push(b'[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                write(item, out);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            out.push(b'{');
            for (n, (key, value)) in members.iter().enumerate() {
                if n > 0 {
                    out.push(b',');
                }
                write_text(key, out);
                out.push(b':');
                write(value, out);
            }
            out.push(b'}');
        }
    }
}

fn write_text(text: &Text, out: &mut Vec<u8>) {
    out.push(b'"');
    match text {
        Text::Unicode(text) => text.chars().for_each(|c| write_char(c, out)),
        // A half of a pair has no UTF-8; it stays an escape.
        Text::Broken(units) => char::decode_utf16(units.iter().copied()).for_each(|unit| match unit {
            Ok(c) => write_char(c, out),
            Err(half) => out.extend(format!("\\u{:04x}", half.unpaired_surrogate()).bytes()),
        }),
    }
    out.push(b'"');
}

fn write_char(c: char, out: &mut Vec<u8>) {
    match c {
        '"' => out.extend(b"\\\""),
        '\\' => out.extend(b"\\\\"),
        '\n' => out.extend(b"\\n"),
        '\r' => out.extend(b"\\r"),
        '\t' => out.extend(b"\\t"),
        '\u{8}' => out.extend(b"\\b"),
        '\u{c}' => out.extend(b"\\f"),
        c if u32::from(c) < 0x20 => out.extend(format!("\\u{:04x}", u32::from(c)).bytes()),
        c => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
    }
}
