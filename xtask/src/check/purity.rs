//! The core decides and does nothing else: whatever it needs to know is an argument.

use super::Problem;
use super::repository::Repository;

const CORE: &str = "fairgate-core";
/// Crates that only compute.
const PURE_CRATES: [&str; 5] = ["chrono", "serde", "serde_json", "thiserror", "uuid"];
/// Ways to a clock, to chance, or to the world outside.
const IMPURE: [&str; 16] = [
    "SystemTime",
    "Instant::now",
    "Utc::now",
    "Local::now",
    "new_v4",
    "now_v7",
    "RandomState::new",
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::thread",
    "println!",
    "print!",
    "async fn",
];
/// Modules of `std` that an `use std::{..}` could bring in.
const IMPURE_MODULES: [&str; 6] = ["env", "fs", "io", "net", "process", "thread"];

pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in repository.crates.iter().filter(|package| package.name == CORE) {
        for dependency in package.dependencies.iter().filter(|dependency| !dependency.is_dev()) {
            if !PURE_CRATES.contains(&dependency.name.as_str()) {
                problems.push(Problem::new(
                    "crates/fairgate-core/Cargo.toml",
                    format!(
                        "depends on `{}`, which is not known to be pure: move what needs it to crates/fairgate, or, \
                         if it only computes, add it to PURE_CRATES in xtask/src/check/purity.rs",
                        dependency.name
                    ),
                ));
            }
        }
    }
    for (path, text) in
        repository.ending(&[".rs"]).filter(|(path, _)| path.starts_with("crates/fairgate-core/src/"))
    {
        for (index, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if let Some(word) = impure(code) {
                problems.push(Problem::in_line(
                    path,
                    index,
                    format!("`{word}` in the core: take what it yields as an argument, and read it in crates/fairgate"),
                ));
            }
        }
    }
    problems
}

/// The impure thing that a line of code mentions.
fn impure(code: &str) -> Option<&str> {
    let grouped = code.split("std::{").nth(1).and_then(|group| {
        group.split([',', '{', '}', ' ', ';', ':']).find(|word| IMPURE_MODULES.contains(word))
    });
    IMPURE.into_iter().find(|word| code.contains(word)).or(grouped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_core(line: &str) -> Vec<Problem> {
        check(&Repository::of_files(&[("crates/fairgate-core/src/a.rs", line)]))
    }

    #[test]
    fn a_clock_in_the_core_is_named_with_its_line() {
        let problems = in_core("fn f() {\n    let t = chrono::Utc::now();\n}\n");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().starts_with("crates/fairgate-core/src/a.rs:2: `Utc::now`"));
    }

    #[test]
    fn a_grouped_import_does_not_hide_the_outside() {
        assert_eq!(in_core("use std::{collections::BTreeMap, fs};").len(), 1);
        assert_eq!(in_core("use std::{collections::BTreeMap, fmt};").len(), 0);
    }

    #[test]
    fn comments_may_speak_of_clocks_and_other_crates_may_read_them() {
        assert_eq!(in_core("//! No SystemTime here.").len(), 0);
        let elsewhere = Repository::of_files(&[("crates/fairgate/src/a.rs", "SystemTime::now()")]);
        assert_eq!(check(&elsewhere).len(), 0);
    }

    #[test]
    fn the_core_depends_on_pure_crates_only_but_its_tests_may_use_more() {
        assert_eq!(check(&Repository::of_crate(CORE, &["serde", "uuid", "dev:proptest"])).len(), 0);
        let problems = check(&Repository::of_crate(CORE, &["tokio"]));
        assert!(problems[0].message.contains("`tokio`"), "{}", problems[0]);
    }
}
