//! RFC 8259, strictly, except for halves of surrogate pairs, which that leaves open.

use std::collections::BTreeMap;

use super::{Json, Text};

/// Nesting beyond this is refused rather than followed.
const MAX_DEPTH: usize = 128;

/// Where a text stops to be JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}: expected {expected}")]
pub struct ParseError {
    /// Bytes before it.
    pub at: usize,
    /// What should have stood there.
    pub expected: &'static str,
}

/// Reads one value and nothing after it.
///
/// # Errors
/// With the place at which it is not JSON.
pub fn parse(text: &str) -> Result<Json, ParseError> {
    let mut parser = Parser { text: text.as_bytes(), at: 0 };
    let value = parser.value(0)?;
    parser.blanks();
    if parser.at == parser.text.len() { Ok(value) } else { Err(parser.expected("the end")) }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl Parser<'_> {
    fn expected(&self, expected: &'static str) -> ParseError {
        ParseError { at: self.at, expected }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn word(&mut self, word: &'static str, value: Json) -> Result<Json, ParseError> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return Err(self.expected(word));
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Json, ParseError> {
        if depth > MAX_DEPTH {
            return Err(self.expected("less nesting"));
        }
        self.blanks();
        match self.peek() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => Ok(Json::Text(self.text()?)),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.expected("a value")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, ParseError> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.eat(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.eat(b']') {
                return Ok(Json::Array(items));
            }
            if !self.eat(b',') {
                return Err(self.expected("a comma or the end of the array"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, ParseError> {
        self.at += 1;
        let mut members = BTreeMap::new();
        self.blanks();
        if self.eat(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key"));
            }
            let key = self.text()?;
            self.blanks();
            if !self.eat(b':') {
                return Err(self.expected("a colon"));
            }
            members.insert(key, self.value(depth + 1)?);
            self.blanks();
            if self.eat(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.eat(b',') {
                return Err(self.expected("a comma or the end of the object"));
            }
        }
    }

    fn digits(&mut self) -> Result<(), ParseError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.expected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Json, ParseError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        Ok(Json::Number(String::from_utf8_lossy(&self.text[start..self.at]).into_owned()))
    }

    /// A string; the quote is at hand.
    fn text(&mut self) -> Result<Text, ParseError> {
        self.at += 1;
        let mut units: Vec<u16> = Vec::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..0x20)) {
                self.at += 1;
            }
            // The input is UTF-8, and runs end at ASCII bytes.
            units.extend(String::from_utf8_lossy(&self.text[start..self.at]).encode_utf16());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(match String::from_utf16(&units) {
                        Ok(text) => Text::Unicode(text),
                        Err(_) => Text::Broken(units),
                    });
                }
                Some(b'\\') => {
                    self.at += 1;
                    let unit = self.escape()?;
                    units.push(unit);
                }
                _ => return Err(self.expected("the end of a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<u16, ParseError> {
        let simple = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'u') => {
                let digits = self.text.get(self.at + 1..self.at + 5).unwrap_or_default();
                if digits.len() != 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(self.expected("four hexadecimal digits"));
                }
                self.at += 5;
                let value = |unit: u16, digit: &u8| {
                    let digit = char::from(*digit).to_digit(16).unwrap_or_default();
                    unit << 4 | u16::try_from(digit).unwrap_or_default()
                };
                return Ok(digits.iter().fold(0, value));
            }
            _ => return Err(self.expected("an escape")),
        };
        self.at += 1;
        Ok(simple.into())
    }
}
