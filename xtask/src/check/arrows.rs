//! Which crate may use which: arrows point one way.

use super::Problem;
use super::repository::Repository;

/// Each crate of the workspace with those of the workspace that it may use.
const ARROWS: [(&str, &[&str]); 9] = [
    ("fairgate-core", &[]),
    ("fairgate-localpg", &[]),
    ("fairgate", &["fairgate-core"]),
    ("fairgate-admin", &["fairgate-core", "fairgate"]),
    ("fairgate-cli", &["fairgate-core", "fairgate", "fairgate-admin", "fairgate-localpg"]),
    ("pushfeed", &["fairgate-core", "fairgate"]),
    ("fairgate-testkit", &["fairgate-core", "fairgate", "fairgate-localpg"]),
    ("fairgate-bench", &["fairgate-core", "fairgate", "fairgate-localpg", "fairgate-testkit"]),
    ("xtask", &["fairgate-localpg"]),
];
/// What tests may use besides; never the core's, which need no database.
const FOR_TESTS: &str = "fairgate-testkit";
/// The engine speaks to a queue in SQL, so that versions of the queue's own crate cannot clash with ours.
const QUEUES: [&str; 4] = ["graphile_worker", "apalis", "apalis-postgres", "underway"];

pub(super) fn check(repository: &Repository) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in &repository.crates {
        let name = package.name.as_str();
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            problems.push(Problem::new(
                name,
                "is not on the map of crates: add it, and what it may use, to ARROWS in xtask/src/check/arrows.rs",
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let used = dependency.name.as_str();
            let is_ours = ARROWS.iter().any(|(known, _)| *known == used);
            let for_tests = dependency.is_dev() && used == FOR_TESTS && name != "fairgate-core";
            if is_ours && !allowed.contains(&used) && !for_tests {
                problems.push(Problem::new(
                    name,
                    format!(
                        "uses `{used}`, against the arrows: it may use {}; move what it needs",
                        list(allowed)
                    ),
                ));
            }
            if name == "fairgate" && !dependency.is_dev() && QUEUES.contains(&used) {
                problems.push(Problem::new(
                    name,
                    format!(
                        "uses `{used}`: speak to the queue in SQL, in src/queue, and keep its crate for tests"
                    ),
                ));
            }
        }
    }
    problems
}

fn list(allowed: &[&str]) -> String {
    if allowed.is_empty() {
        "no other crate of ours".to_owned()
    } else {
        format!("only {}", allowed.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_against_the_direction_is_named_with_both_ends() {
        let problems = check(&Repository::of_crate("fairgate", &["fairgate-core", "fairgate-cli", "serde"]));
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().starts_with("fairgate: uses `fairgate-cli`"), "{}", problems[0]);
    }

    #[test]
    fn tests_may_use_the_testkit_but_the_cores_may_not() {
        assert_eq!(check(&Repository::of_crate("fairgate", &["dev:fairgate-testkit"])).len(), 0);
        assert_eq!(check(&Repository::of_crate("fairgate", &["fairgate-testkit"])).len(), 1);
        assert_eq!(check(&Repository::of_crate("fairgate-core", &["dev:fairgate-testkit"])).len(), 1);
    }

    #[test]
    fn the_engine_keeps_queue_crates_to_its_tests() {
        assert_eq!(check(&Repository::of_crate("fairgate", &["dev:graphile_worker"])).len(), 0);
        assert_eq!(check(&Repository::of_crate("fairgate", &["graphile_worker"])).len(), 1);
    }

    #[test]
    fn a_new_crate_must_be_put_on_the_map() {
        assert!(check(&Repository::of_crate("fairgate-extra", &[]))[0].message.contains("ARROWS"));
    }
}
