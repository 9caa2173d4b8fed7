use insta::assert_snapshot;

use crate::support::{PLAIN, User};

const WRONG: &str = "\
[engine]
idle_pauze = \"1s\"

[queues.main]
type = \"graphile_worker\"
max_waiting = -1

[policies.webhooks]
queue = \"mian\"
retry = \"restaged\"
";

#[test]
fn check_shows_every_problem_together() {
    let user = User::new();
    user.write("fairgate.toml", WRONG);
    assert_snapshot!(user.run(&["check"]));
}

#[test]
fn check_gives_problems_as_json_too() {
    let user = User::new();
    user.write("fairgate.toml", WRONG);
    let ran = user.run(&["check", "--json"]);
    assert_eq!(ran.code, 2);
    let document = ran.json();
    assert_eq!(document["problems"].as_array().unwrap().len(), 5);
    assert_eq!(document["problems"][0]["at"], "engine.idle_pauze");
    assert_eq!(document["problems"][0]["line"], 2);
}

#[test]
fn check_notes_what_is_odd_and_exits_with_0() {
    let user = User::new();
    user.write("fairgate.toml", format!("{PLAIN}[queues.spare]\ntype = \"graphile_worker\"\n"));
    assert_snapshot!(user.run(&["check"]));
}

#[test]
fn check_gives_the_whole_file_as_json() {
    let user = User::new();
    user.write("fairgate.toml", PLAIN);
    assert_snapshot!(user.run(&["check", "--json"]));
}

#[test]
fn check_shows_the_line_that_is_not_toml() {
    let user = User::new();
    user.write("f.toml", "[engine]\nidle_pause = 5s\n");
    assert_snapshot!(user.run(&["check", "--config", "f.toml"]));
}

#[test]
fn a_missing_file_says_how_to_get_one() {
    assert_snapshot!(User::new().run(&["check"]));
}
