//! From text to TOML, or every place where the text is not TOML.

use fairgate_core::duration::parse_duration;
use toml::de::{DeTable, Error};

use super::findings::line_and_column;
use super::{ConfigErrors, ConfigProblem};

pub(super) fn parse<'a>(text: &'a str, file: &str) -> Result<DeTable<'a>, ConfigErrors> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(table.into_inner());
    }
    let mut problems: Vec<ConfigProblem> = errors.iter().map(|error| problem(text, error)).collect();
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems.dedup_by_key(|problem| problem.line);
    Err(ConfigErrors::new(file, problems))
}

fn problem(text: &str, error: &Error) -> ConfigProblem {
    let span = error.span().unwrap_or(0..0);
    let (line, column) = line_and_column(text, span.start);
    let found = text.get(span).unwrap_or_default();
    let message = if parse_duration(found).is_ok_and(|_| !found.is_empty()) {
        format!("this is not TOML: text must be quoted; write \"{found}\"")
    } else {
        format!("this is not TOML: {}", error.message())
    };
    ConfigProblem {
        line,
        column,
        at: String::new(),
        message,
        source_line: text.lines().nth(line - 1).map(str::to_owned),
    }
}
