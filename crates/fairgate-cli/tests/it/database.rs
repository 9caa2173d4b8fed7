//! Databases that are not named, not there, or not ready.

use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

const COMMANDS: &[&[&str]] = &[
    &["migrate"],
    &["apply"],
    &["run", "--no-admin"],
    &["stage", "webhooks", "--task", "t"],
    &["cancel", "0198c2a4-7d1e-7000-8000-00000000002a"],
    &["status"],
    &["policies"],
    &["partitions", "webhooks"],
    &["pause", "webhooks"],
    &["resume", "webhooks"],
    &["enable"],
    &["disable"],
    &["doctor"],
];

fn user() -> User {
    let user = User::new();
    user.write("fairgate.toml", PLAIN);
    user
}

#[test]
fn without_a_database_url_the_three_places_are_named() {
    let expected = user().run(&["status"]);
    assert_snapshot!(expected);
    for command in COMMANDS {
        let ran = user().run(command);
        assert_eq!((ran.code, &ran.stderr), (2, &expected.stderr), "{ran}");
    }
}

#[test]
fn a_database_that_does_not_answer_is_named_without_its_password() {
    let url = "postgres://me:secret@127.0.0.1:1/app";
    assert_snapshot!(user().run(&["status", "--database-url", url]));
    for command in COMMANDS {
        let ran = user().run(&[command, &["--database-url", url][..]].concat());
        assert_eq!(ran.code, 1, "{ran}");
        assert!(!ran.stderr.contains("secret"), "{ran}");
    }
}

#[test]
fn a_url_that_is_none_is_wrong_use() {
    assert_snapshot!(user().run(&["status", "--database-url", "localhost/app"]));
}

#[tokio::test]
async fn a_database_that_does_not_exist_says_so() {
    let database = TestDb::bare().await;
    let url = database.url().replacen(database.name(), "nowhere", 1);
    let ran = user().run(&["status", "--database-url", &url]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("/nowhere does not exist\n"), "{ran}");
    assert!(ran.stderr.contains("  hint: create it (createdb)"), "{ran}");
}

#[tokio::test]
async fn without_the_schema_every_command_says_to_migrate() {
    let database = TestDb::bare().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    assert_snapshot!(user.run(&["status"]));
    for command in COMMANDS {
        if !matches!(command[0], "migrate" | "doctor") {
            let ran = user.run(command);
            assert_eq!(ran.code, 1, "{ran}");
            assert!(ran.stderr.contains("  hint: run `fairgate migrate`"), "{ran}");
        }
    }
}

#[test]
fn run_says_at_once_that_a_connection_is_refused() {
    let ran = user().run(&["run", "--no-admin", "--database-url", "postgres://me@127.0.0.1:1/app"]);
    assert!(ran.stderr.contains("Connection refused") && !ran.stderr.contains("no answer within"), "{ran}");
}

#[test]
fn a_url_of_another_database_is_told_apart() {
    assert_snapshot!(user().run(&["status", "--database-url", "mysql://me:secret@127.0.0.1/app"]));
}

#[tokio::test]
async fn a_server_without_tls_is_told_when_the_url_requires_it() {
    let database = TestDb::bare().await;
    let joint = if database.url().contains('?') { '&' } else { '?' };
    let ran = user().run(&["status", "--database-url", &format!("{}{joint}sslmode=require", database.url())]);
    assert!(ran.stderr.contains("has no encrypted connection for us"), "{ran}");
    assert!(ran.stderr.contains("leave sslmode out of the URL"), "{ran}");
}
