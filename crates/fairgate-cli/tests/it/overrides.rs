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

const MAKE: [&str; 8] =
    ["override", "webhooks", "acct:7", "concurrency.max=5", "--for", "1h", "--reason", "their import"];

fn user(database: &TestDb) -> User {
    let user = User::with_policies(database, GATED);
    user.run(&["stage", "webhooks", "--task", "t", "--partition-key", "acct:7"]).succeeds();
    user
}

#[tokio::test]
async fn an_override_is_made_listed_explained_and_ended() {
    let database = TestDb::new().await;
    let user = user(&database);
    let said = user.run(&MAKE).succeeds().stderr;
    assert!(
        said.starts_with("concurrency.max of partition \"acct:7\" of policy \"webhooks\" is 5 until "),
        "{said}"
    );
    assert!(said.ends_with("; then it ends by itself\n"), "{said}");
    let list = user.run(&["override", "webhooks", "--list", "--json"]).succeeds().json();
    let one = &list["overrides"][0];
    assert_eq!(
        (&one["partition"], &one["gate"], &one["parameter"]),
        (&"acct:7".into(), &"concurrency".into(), &"max".into())
    );
    assert_eq!((&one["value"], &one["reason"]), (&5.0.into(), &"their import".into()));
    for command in [&["override", "webhooks", "acct:7", "--list"][..], &["explain", "webhooks", "acct:7"]] {
        let text = user.run(command).succeeds().stdout;
        let row = text.lines().find(|line| line.starts_with("concurrency.max ")).expect(&text);
        assert!(row.contains("acct:7") && row.ends_with("their import"), "{text}");
    }
    assert_snapshot!(user.run(&["override", "webhooks", "acct:7", "concurrency.max", "--clear"]));
    assert_snapshot!(user.run(&["override", "webhooks", "acct:7", "--clear"]));
    assert_snapshot!(user.run(&["override", "webhooks", "--list"]));
}

#[tokio::test]
async fn json_prints_what_was_made_and_how_many_ended() {
    let database = TestDb::new().await;
    let user = user(&database);
    let made = user.run(&[&MAKE[..], &["--json"]].concat()).succeeds().json();
    assert_eq!((&made["partition"], &made["value"]), (&"acct:7".into(), &5.0.into()));
    assert!(made["until"].is_string() && made["made_at"].is_string() && made["who"].is_string(), "{made}");
    let ended = user.run(&["override", "webhooks", "acct:7", "--clear", "--json"]).succeeds().json();
    assert_eq!(ended["ended"], 1);
}

#[tokio::test]
async fn what_cannot_be_overridden_gets_a_clear_answer() {
    let database = TestDb::new().await;
    let user = user(&database);
    let make = |partition, limit| {
        user.run(&["override", "webhooks", partition, limit, "--for", "1h", "--reason", "r"])
    };
    assert_snapshot!(make("acct:8", "concurrency.max=5"));
    assert_snapshot!(make("acct:7", "concurrency.maximum=5"));
    assert_snapshot!(make("acct:7", "concurrency.max=-5"));
    assert_snapshot!(make("acct:7", "concurrency.max"));
    assert_snapshot!(make("acct:7", "max=5"));
    assert_snapshot!(user.run(&["override", "webhooks", "acct:7", "concurrency.max=5", "--for", "1h"]));
}
