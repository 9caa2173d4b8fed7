use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::User;

const GATED: &str = "\
[queues.main]
type = \"graphile_worker\"

[policies.webhooks]
queue = \"main\"
partition_by = \"account_id\"

[[policies.webhooks.gates]]
type = \"concurrency\"
max = 1
";

#[tokio::test]
async fn explain_says_what_a_job_and_a_partition_wait_for() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, GATED);
    let stage = ["stage", "webhooks", "--task", "t", "--partition-key", "acct:7", "--json"];
    let ids: Vec<String> =
        (0..3).map(|_| user.run(&stage).succeeds().json()["job_id"].as_str().unwrap().to_owned()).collect();
    assert_snapshot!(user.run(&["explain", &ids[0]]));
    user.run(&["admit", "webhooks", "acct:7", "--count", "1"]).succeeds();
    assert_snapshot!(shown(&user, &["explain", &ids[2]]));
    assert_snapshot!(shown(&user, &["explain", "webhooks", "acct:7"]));
    assert_snapshot!(shown(&user, &["explain", &ids[0]]));
    let json = user.run(&["explain", &ids[2], "--json"]).succeeds().json();
    assert_eq!((&json["state"], &json["ahead"]), (&"staged".into(), &1.into()));
    assert_eq!(json["holds"][0]["event"], "finish");
}

/// What it prints, without the spans of time that differ from run to run.
fn shown(user: &User, arguments: &[&str]) -> String {
    let text = user.run(arguments).succeeds().to_string();
    let word = |word: &str| {
        let span = word.trim_end_matches(';').strip_suffix('s').is_some_and(|n| n.parse::<u64>().is_ok());
        if span { "[span]".to_owned() } else { word.to_owned() }
    };
    let line =
        |line: &str| line.split(' ').map(word).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn what_is_not_there_gets_a_clear_answer() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, GATED);
    assert_snapshot!(user.run(&["explain", "0198c2a4-7d1e-7000-8000-00000000002a"]));
    assert_snapshot!(user.run(&["explain", "webhooks", "acct:8"]));
    assert_snapshot!(user.run(&["explain", "webhooks"]));
}
