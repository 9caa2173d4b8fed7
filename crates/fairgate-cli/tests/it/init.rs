use insta::assert_snapshot;

use crate::support::User;

#[test]
fn init_writes_a_file_that_check_accepts() {
    let user = User::new();
    assert_snapshot!(user.run(&["init"]));
    assert_snapshot!(user.run(&["check"]));
}

#[test]
fn init_overwrites_only_when_told_to() {
    let user = User::new();
    user.write("fairgate.toml", "mine");
    assert_snapshot!(user.run(&["init"]));
    assert_eq!(user.read("fairgate.toml"), "mine");
    user.run(&["init", "--force"]).succeeds();
    assert_ne!(user.read("fairgate.toml"), "mine");
}

#[test]
fn init_prints_what_it_would_write() {
    let user = User::new();
    let printed = user.run(&["init", "--print"]).succeeds();
    user.run(&["init", "--config", "other.toml"]).succeeds();
    assert_eq!(printed.stdout, user.read("other.toml"));
    assert!(!user.path().join("fairgate.toml").exists());
}
