//! What was found while reading a file: problems, which refuse it, and notes, which do not.

use super::{ConfigErrors, ConfigProblem};

/// A byte of the text, and what is said about it.
type Finding = (usize, ConfigProblem);

pub(super) struct Findings<'a> {
    text: &'a str,
    file: &'a str,
    problems: Vec<Finding>,
    notes: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(text: &'a str, file: &'a str) -> Self {
        Self { text, file, problems: Vec::new(), notes: Vec::new() }
    }

    /// Something that refuses the file; `at` is its dotted place, `offset` its byte.
    pub(super) fn problem(&mut self, offset: usize, at: &str, message: impl Into<String>) {
        let problem = self.locate(offset, at, message.into());
        self.problems.push((offset, problem));
    }

    /// Something worth knowing.
    pub(super) fn note(&mut self, offset: usize, at: &str, message: impl Into<String>) {
        let note = self.locate(offset, at, message.into());
        self.notes.push((offset, note));
    }

    /// Whether something is already known to be wrong at a place or inside it.
    pub(super) fn has(&self, at: &str) -> bool {
        self.problems.iter().any(|(_, problem)| {
            let rest = problem.at.strip_prefix(at);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    /// The notes in the order of the file, or every problem in that order, each once.
    pub(super) fn finish(self) -> Result<Vec<String>, ConfigErrors> {
        let problems = in_order(self.problems);
        if problems.is_empty() {
            let notes = in_order(self.notes).into_iter();
            Ok(notes.map(|note| format!("{}:{note}", self.file)).collect())
        } else {
            Err(ConfigErrors::new(self.file, problems))
        }
    }

    fn locate(&self, offset: usize, at: &str, message: String) -> ConfigProblem {
        let (line, column) = line_and_column(self.text, offset);
        ConfigProblem { line, column, at: at.to_owned(), message, source_line: None }
    }
}

fn in_order(mut findings: Vec<Finding>) -> Vec<ConfigProblem> {
    findings.sort_by_key(|(offset, _)| *offset);
    let mut list: Vec<ConfigProblem> = Vec::with_capacity(findings.len());
    for (_, finding) in findings {
        if !list.contains(&finding) {
            list.push(finding);
        }
    }
    list
}

/// Line and column of a byte, both from 1, the column in characters.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
