//! `check`: the house rules that neither rustc nor clippy know.
//!
//! A rule takes the repository's files or its crates as data and returns what breaks it; none reads the disk itself.

mod adr;
mod arrows;
mod links;
mod purity;
mod repository;
mod size;
mod words;

use std::fmt;
use std::process::ExitCode;

use crate::fail;
use repository::Repository;

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    /// File, and line where one is to blame.
    place: String,
    /// What is wrong and what to do.
    message: String,
}

impl Problem {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Problem { place: place.into(), message: message.into() }
    }

    /// In line `index`, counted from 0.
    fn in_line(path: &str, index: usize, message: impl Into<String>) -> Self {
        Problem::new(format!("{path}:{}", index + 1), message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// What breaks the rule in a repository.
type Rule = fn(&Repository) -> Vec<Problem>;

/// Every rule, with its name.
const RULES: [(&str, Rule); 6] = [
    ("file sizes", size::check),
    ("pure core", purity::check),
    ("arrows between crates", arrows::check),
    ("words", words::check),
    ("numbered decisions", adr::check),
    ("links", links::check),
];

/// Runs all rules and prints every problem.
pub(crate) fn run() -> ExitCode {
    let repository = match Repository::read() {
        Ok(repository) => repository,
        Err(error) => return fail(error),
    };
    let mut count = 0;
    for (rule, check) in RULES {
        for problem in check(&repository) {
            eprintln!("{problem}  [{rule}]");
            count += 1;
        }
    }
    match count {
        0 => {
            println!("house rules: {} hold in {} files", RULES.len(), repository.files.len());
            ExitCode::SUCCESS
        }
        1 => fail("1 problem"),
        _ => fail(format_args!("{count} problems")),
    }
}
