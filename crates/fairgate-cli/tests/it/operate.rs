use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

#[tokio::test]
async fn pause_and_resume_say_how_things_are_now() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_snapshot!(user.run(&["pause", "webhooks"]));
    assert_snapshot!(user.run(&["pause", "webhooks"]));
    assert_snapshot!(user.run(&["status"]));
    assert_snapshot!(user.run(&["resume", "webhooks"]));
    assert_eq!(user.run(&["status", "--json"]).succeeds().json()["policies"][0]["paused"], false);
}

#[tokio::test]
async fn enable_and_disable_act_on_one_policy_or_on_all() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_snapshot!(user.run(&["disable", "webhooks"]));
    assert_snapshot!(user.run(&["policies"]));
    assert_snapshot!(user.run(&["enable", "webhooks"]));
    assert_snapshot!(user.run(&["disable"]));
    assert_snapshot!(user.run(&["status"]));
    assert_snapshot!(user.run(&["enable"]));
}

#[tokio::test]
async fn a_policy_that_is_not_registered_names_the_nearest() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_snapshot!(user.run(&["pause", "webhoks"]));
}

#[tokio::test]
async fn pause_and_resume_act_on_one_partition_alone() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_snapshot!(user.run(&["pause", "webhooks", "acct:7"]));
    user.run(&["stage", "webhooks", "--task", "t", "--partition-key", "acct:7"]).succeeds();
    assert_snapshot!(user.run(&["pause", "webhooks", "acct:7"]));
    let partitions = user.run(&["partitions", "webhooks", "--json"]).succeeds().json();
    assert_eq!(partitions["partitions"][0]["paused"], true);
    assert_eq!(user.run(&["status", "--json"]).succeeds().json()["policies"][0]["paused"], false);
    assert_snapshot!(user.run(&["resume", "webhooks", "acct:7"]));
}
