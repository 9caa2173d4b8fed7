//! Data on stdout, words on stderr.

mod table;
mod time;

use std::io::{ErrorKind, Write};

use serde::Serialize;

use crate::error::CliError;

pub(crate) use table::{Column, Table};
pub(crate) use time::{ago, until};

/// Writes data to stdout. A reader that went away is no error: it has what it wanted.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::failed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes one JSON document to stdout.
pub(crate) fn print_json(document: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| CliError::failed(format!("cannot write the answer as JSON: {error}")))?;
    print(&(text + "\n"))
}

/// Says a line to the user, on stderr. There is nobody to tell when that fails.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
