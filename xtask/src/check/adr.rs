//! Decisions are numbered from 0001 on, each number once.

use super::Problem;
use super::repository::Repository;

const FOLDER: &str = "docs/adr/";

pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut expected = 1;
    let names = repository.files.keys().filter_map(|path| path.strip_prefix(FOLDER));
    for name in names.filter(|name| *name != "README.md") {
        let Some(number) = number(name) else {
            problems.push(Problem::new(
                format!("{FOLDER}{name}"),
                "is not named like a decision: NNNN-title-in-lower-case.md",
            ));
            continue;
        };
        if number != expected {
            problems.push(Problem::new(
                format!("{FOLDER}{name}"),
                format!("should be number {expected:04}: numbers run from 0001 without gaps or repetition"),
            ));
        }
        expected = number + 1;
    }
    problems
}

/// The number of `NNNN-title.md`.
fn number(name: &str) -> Option<u32> {
    let (number, title) = name.strip_suffix(".md")?.split_once('-')?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (number.len() == 4 && !title.is_empty() && title.chars().all(plain))
        .then(|| number.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(names: &[&str]) -> Vec<String> {
        let paths: Vec<String> = names.iter().map(|name| format!("{FOLDER}{name}")).collect();
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
        check(&Repository::of_files(&files)).into_iter().map(|problem| problem.place).collect()
    }

    #[test]
    fn numbers_in_a_row_pass() {
        assert_eq!(places(&["0001-use-rust.md", "0002-one-statement.md", "README.md"]), Vec::<String>::new());
    }

    #[test]
    fn a_gap_and_a_repetition_are_named() {
        assert_eq!(places(&["0001-a.md", "0003-c.md"]), ["docs/adr/0003-c.md"]);
        assert_eq!(places(&["0001-a.md", "0001-b.md"]), ["docs/adr/0001-b.md"]);
    }

    #[test]
    fn other_names_are_refused() {
        assert_eq!(places(&["1-a.md"]), ["docs/adr/1-a.md"]);
        assert_eq!(places(&["0001-A title.md"]), ["docs/adr/0001-A title.md"]);
    }
}
