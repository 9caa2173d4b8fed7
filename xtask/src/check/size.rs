//! One screen a file, or not much more.

use super::Problem;
use super::repository::Repository;

/// Ending and the most lines.
const LIMITS: [(&str, usize); 2] = [(".rs", 300), (".sql", 200)];

pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (ending, limit) in LIMITS {
        // What other projects publish is kept as they publish it.
        let ours = |path: &str| !path.contains("/fixtures/queues/");
        for (path, text) in repository.ending(&[ending]).filter(|(path, _)| ours(path)) {
            let lines = text.lines().count();
            if lines > limit {
                problems.push(Problem::new(
                    path,
                    format!("{lines} lines; {limit} is the most: split it where its subject changes"),
                ));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_be_as_long_as_the_limit_and_no_longer() {
        let (fits, long) = ("x\n".repeat(300), "x\n".repeat(301));
        let repository = Repository::of_files(&[("a.rs", &fits), ("b.rs", &long), ("c.md", &long)]);
        let problems = check(&repository);
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().starts_with("b.rs: 301 lines"), "{}", problems[0]);
    }

    #[test]
    fn statements_are_shorter_than_modules() {
        let repository = Repository::of_files(&[("a.sql", &"x\n".repeat(201))]);
        assert_eq!(check(&repository).len(), 1);
    }
}
