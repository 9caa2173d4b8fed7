use insta::assert_snapshot;

use crate::support::User;

#[test]
fn help_lists_the_commands() {
    assert_snapshot!(User::new().run(&["--help"]));
}

#[test]
fn every_command_has_an_example() {
    let commands = [
        "init",
        "migrate",
        "check",
        "apply",
        "run",
        "demo",
        "stage",
        "cancel",
        "status",
        "policies",
        "partitions",
        "explain",
        "pause",
        "resume",
        "enable",
        "disable",
        "admit",
        "drain",
        "override",
        "quarantine",
        "doctor",
        "uninstall",
    ];
    for command in commands {
        let help = User::new().run(&[command, "--help"]).succeeds().stdout;
        assert!(help.contains("Examples:\n"), "{help}");
        assert!(help.contains(&format!("  fairgate {command}")), "{help}");
    }
}

#[test]
fn reading_commands_take_json() {
    for command in ["check", "apply", "demo", "stage", "cancel", "status", "policies", "partitions", "doctor"]
    {
        let help = User::new().run(&[command, "--help"]).succeeds().stdout;
        assert!(help.contains("--json"), "{help}");
    }
}

#[test]
fn stage_explains_itself() {
    assert_snapshot!(User::new().run(&["stage", "--help"]));
}

#[test]
fn a_command_that_does_not_exist_exits_with_2() {
    assert_snapshot!(User::new().run(&["explode", "webhooks"]));
}
