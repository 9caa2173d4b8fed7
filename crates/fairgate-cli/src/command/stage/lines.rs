//! The lines of an NDJSON file, a chunk at a time, and what is wrong with them.

use std::io::BufRead;

use fairgate::NewJob;

use super::line;
use crate::error::CliError;

/// Lines of a chunk: as many as go in one statement.
const CHUNK: usize = 10_000;
/// Wrong lines that are shown.
const SHOWN: usize = 20;

/// A job and the line that it came from.
pub(super) struct Numbered {
    pub(super) line: u64,
    pub(super) job: NewJob,
}

/// A file being read.
pub(super) struct Lines<'a> {
    source: &'a mut dyn BufRead,
    number: u64,
    buffer: Vec<u8>,
    /// Whether a line that is not blank was read.
    begun: bool,
}

/// What is wrong, by line: the first ones whole, the others counted.
#[derive(Default)]
pub(super) struct Wrong {
    shown: Vec<(u64, String)>,
    more: u64,
    /// Whether lines behind those were looked at only in part.
    unchecked: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a mut dyn BufRead) -> Self {
        Self { source, number: 0, buffer: Vec::new(), begun: false }
    }

    /// The jobs of the next chunk; empty at the end of the file. Wrong lines go to `wrong`.
    pub(super) fn chunk(&mut self, wrong: &mut Wrong) -> Result<Vec<Numbered>, CliError> {
        let mut jobs = Vec::new();
        while jobs.len() < CHUNK && self.advance()? {
            self.refuse_array()?;
            match self.parse() {
                Ok(Some(job)) => jobs.push(Numbered { line: self.number, job }),
                Ok(None) => {}
                Err(problem) => wrong.add(self.number, problem),
            }
        }
        Ok(jobs)
    }

    fn advance(&mut self) -> Result<bool, CliError> {
        self.buffer.clear();
        let read = self.source.read_until(b'\n', &mut self.buffer).map_err(|error| {
            CliError::failed(format!("--ndjson: cannot read on: {error}")).hint("nothing was staged")
        })?;
        self.number += 1;
        Ok(read > 0)
    }

    /// A file that begins as a JSON array is none of lines.
    fn refuse_array(&mut self) -> Result<(), CliError> {
        let text = self.buffer.trim_ascii();
        let first = !self.begun && !text.is_empty();
        self.begun |= first;
        if !first || !text.starts_with(b"[") {
            return Ok(());
        }
        Err(CliError::usage("--ndjson: this is a JSON array, so nothing was staged; give one object a line, without brackets and commas around them")
            .hint("`jq -c '.[]' FILE` turns an array into lines"))
    }

    /// The job of the line; none: the line is blank.
    fn parse(&self) -> Result<Option<NewJob>, String> {
        let text = std::str::from_utf8(&self.buffer).map_err(|error| format!("{error}; JSON is UTF-8"))?;
        let text = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        match text.trim() {
            "" => Ok(None),
            text => line::parse(text).map(Some),
        }
    }
}

impl Wrong {
    pub(super) fn add(&mut self, line: u64, problem: String) {
        if self.is_full() {
            self.more += 1;
        } else {
            self.shown.push((line, problem));
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.shown.len() >= SHOWN
    }

    /// Says that the database was not asked about some lines.
    pub(super) fn leave_unchecked(&mut self) {
        self.unchecked = true;
    }

    /// Fine, or all the wrong lines in their order.
    pub(super) fn into_result(mut self) -> Result<(), CliError> {
        if self.shown.is_empty() {
            return Ok(());
        }
        self.shown.sort_by_key(|(line, _)| *line);
        let count = self.shown.len() as u64 + self.more;
        let mut refusal = CliError::usage(match count {
            1 => "a line is wrong, so nothing was staged".to_owned(),
            count if self.unchecked => format!("at least {count} lines are wrong, so nothing was staged"),
            count => format!("{count} lines are wrong, so nothing was staged"),
        });
        for (line, problem) in self.shown {
            refusal = refusal.cause(format!("line {line}: {problem}"));
        }
        if self.more > 0 {
            refusal = refusal.cause(format!("and {} more", self.more));
        }
        Err(refusal.hint("a line is an object such as {\"task\": \"deliver\", \"payload\": {}, \"context\": {\"account_id\": 7}}"))
    }
}
