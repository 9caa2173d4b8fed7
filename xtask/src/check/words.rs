//! Words that must not be in what we publish.

use super::Problem;
use super::repository::Repository;

/// Files that people write; data files may say what they like.
const WRITTEN: [&str; 10] =
    [".rs", ".sql", ".toml", ".md", ".sh", ".yml", ".yaml", "Makefile", ".ci/run", "LICENSE"];
/// The word and what to do instead. Written in two parts, so that this file passes.
const WORDS: [(&str, &str); 4] = [
    (
        concat!("todo", "!("),
        "an unfinished path: finish it, or return an error that says what is not available yet",
    ),
    (concat!("unimplemented", "!("), "an unfinished path: finish it, or return an error that says so"),
    (concat!("FIX", "ME"), "a known fault: mend it, or describe the limit where its users read"),
    (concat!("TO", "DO:"), "a plan: it belongs in an issue, comments state what is true now"),
];
/// A folder of one particular machine, when it begins a path.
const MACHINE_PATH: &str = concat!("/wo", "rk/");

pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, text) in repository.ending(&WRITTEN) {
        for (index, line) in text.lines().enumerate() {
            for (word, advice) in WORDS {
                if line.contains(word) {
                    problems.push(Problem::in_line(path, index, format!("`{word}` is {advice}")));
                }
            }
            if begins_a_path(line, MACHINE_PATH) {
                problems.push(Problem::in_line(
                    path,
                    index,
                    format!(
                        "`{MACHINE_PATH}` is a folder of one machine: use a path from the repository's root"
                    ),
                ));
            }
        }
    }
    problems
}

/// Whether `start` occurs where a path begins, not in the middle of one.
fn begins_a_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        line[..at]
            .chars()
            .next_back()
            .is_none_or(|before| !before.is_alphanumeric() && !"_-./~".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_path_is_found_with_its_line() {
        let text = format!("fn f() {{\n    {}\"later\")\n}}\n", WORDS[0].0);
        let problems = check(&Repository::of_files(&[("src/a.rs", &text)]));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place, "src/a.rs:2");
    }

    #[test]
    fn data_files_may_contain_any_word() {
        assert_eq!(check(&Repository::of_files(&[("fixtures/events.json", WORDS[2].0)])).len(), 0);
    }

    #[test]
    fn only_the_beginning_of_a_path_gives_a_machine_away() {
        assert!(begins_a_path(&format!("see {MACHINE_PATH}main"), MACHINE_PATH));
        assert!(begins_a_path(&format!("`{MACHINE_PATH}main`"), MACHINE_PATH));
        assert!(!begins_a_path(&format!("docs{MACHINE_PATH}plan.md"), MACHINE_PATH));
    }
}
