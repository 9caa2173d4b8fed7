//! Files and stdin.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::error::CliError;

/// The text of `--payload`: the argument itself, a file (`@FILE`), or stdin (`-`). Blanks around the JSON are dropped.
pub(super) fn payload(argument: &str) -> Result<String, CliError> {
    let text = match argument.strip_prefix('@') {
        Some(path) => std::fs::read(path)
            .map_err(|error| CliError::usage(format!("--payload: cannot read {path}: {error}")))?,
        None if argument == "-" => {
            let mut text = Vec::new();
            std::io::stdin()
                .lock()
                .read_to_end(&mut text)
                .map_err(|error| CliError::failed(format!("--payload: cannot read stdin: {error}")))?;
            text
        }
        None => argument.as_bytes().to_vec(),
    };
    let text = String::from_utf8(text)
        .map_err(|error| CliError::usage(format!("--payload: {error}")).hint("JSON is UTF-8"))?;
    Ok(text.trim_matches([' ', '\t', '\r', '\n']).to_owned())
}

/// The lines of `--ndjson`: a file, or stdin (`-`).
pub(super) fn lines(path: &Path) -> Result<Box<dyn BufRead>, CliError> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(std::io::stdin())));
    }
    if path.is_dir() {
        return Err(CliError::usage(format!("--ndjson: {} is a folder; name a file", path.display())));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(BufReader::new(file))),
        Err(error) => Err(CliError::usage(format!("--ndjson: cannot read {}: {error}", path.display()))),
    }
}
