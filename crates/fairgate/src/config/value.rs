//! Values of the kind that a key takes, or a problem that says what was found and what is wanted.

use std::time::Duration;

use fairgate_core::definition::HalfLife;
use fairgate_core::duration::{format_duration, parse_duration};
use toml::de::DeValue;

use super::findings::Findings;
use super::section::{Node, Section};

impl<'a> Node<'a> {
    /// Reports what stands here as something else than what is wanted.
    pub(super) fn refuse(&self, found: &mut Findings<'_>, wanted: &str) {
        found.problem(self.offset, &self.at, format!("is {}; give {wanted}", describe(self.value)));
    }

    /// The same, where a value was expected.
    pub(super) fn wrong<T>(&self, found: &mut Findings<'_>, wanted: &str) -> Option<T> {
        self.refuse(found, wanted);
        None
    }

    pub(super) fn text(&self, found: &mut Findings<'_>, wanted: &str) -> Option<&'a str> {
        match self.value {
            DeValue::String(text) => Some(text),
            _ => self.wrong(found, wanted),
        }
    }

    pub(super) fn flag(&self, found: &mut Findings<'_>) -> Option<bool> {
        match self.value {
            DeValue::Boolean(value) => Some(*value),
            _ => self.wrong(found, "true or false"),
        }
    }

    /// A whole number from `least` to `most`. A 0 passes in any case: whoever takes none says what it would mean.
    pub(super) fn whole(&self, found: &mut Findings<'_>, least: u32, most: u32) -> Option<u32> {
        let wanted = format!("a whole number from {least} to {most}");
        match self.value {
            DeValue::Integer(_) => integer(self.value)
                .and_then(|number| u32::try_from(number).ok())
                .filter(|number| *number <= most)
                .or_else(|| self.wrong(found, &wanted)),
            _ => self.wrong(found, &wanted),
        }
    }

    /// Any number.
    pub(super) fn number(&self, found: &mut Findings<'_>) -> Option<f64> {
        number(self.value).or_else(|| self.wrong(found, "a number"))
    }

    pub(super) fn duration(&self, found: &mut Findings<'_>) -> Option<Duration> {
        match self.value {
            DeValue::String(text) => match parse_duration(text) {
                Ok(duration) => Some(duration),
                Err(error) => {
                    found.problem(self.offset, &self.at, error.to_string());
                    None
                }
            },
            _ => self.wrong(found, &duration_for(self.value)),
        }
    }

    pub(super) fn half_life(&self, found: &mut Findings<'_>) -> Option<HalfLife> {
        match self.value {
            DeValue::String(text) if text == "none" => Some(HalfLife::None),
            DeValue::String(text) => match parse_duration(text) {
                Ok(duration) => Some(HalfLife::Of(duration)),
                Err(error) => {
                    found.problem(self.offset, &self.at, format!("{error}; or \"none\""));
                    None
                }
            },
            _ => self.wrong(found, &format!("{}, or \"none\"", duration_for(self.value))),
        }
    }
}

impl Section<'_> {
    pub(super) fn whole(&self, found: &mut Findings<'_>, key: &str, least: u32, most: u32) -> Option<u32> {
        self.get(key)?.whole(found, least, most)
    }

    pub(super) fn duration(&self, found: &mut Findings<'_>, key: &str) -> Option<Duration> {
        self.get(key)?.duration(found)
    }
}

/// An integer or a float as a float.
pub(super) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(_) => integer(value).map(|number| number as f64),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    }
}

fn integer(value: &DeValue<'_>) -> Option<i128> {
    let integer = value.as_integer()?;
    i128::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// What a bare number of seconds should have been, or an example.
fn duration_for(value: &DeValue<'_>) -> String {
    let seconds = number(value).filter(|seconds| *seconds >= 0.0);
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(duration) => format!("a duration with its unit: write \"{}\"", format_duration(duration)),
        None => "a duration such as \"25s\"".to_owned(),
    }
}

/// So much of a text as helps to find it.
pub(super) fn shown(text: &str) -> std::borrow::Cow<'_, str> {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text {:?}", shown(text)),
        DeValue::Integer(integer) => format!("the number {integer}"),
        DeValue::Float(float) => format!("the number {float}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => format!("the time {time}"),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}
