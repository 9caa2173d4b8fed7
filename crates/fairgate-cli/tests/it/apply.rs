use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

const LIMITED: &str = "\n[[policies.webhooks.gates]]\ntype = \"concurrency\"\nmax = 3\n";

#[tokio::test]
async fn apply_says_what_became_of_every_queue_and_policy() {
    let database = TestDb::new().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    assert_snapshot!(user.run(&["apply"]));
    assert_snapshot!(user.run(&["apply"]));

    user.write("fairgate.toml", format!("{PLAIN}{LIMITED}"));
    assert_snapshot!(user.run(&["apply", "--json"]));

    user.write("fairgate.toml", PLAIN.replace("webhooks", "mail"));
    assert_snapshot!(user.run(&["apply"]));
}

#[tokio::test]
async fn a_queue_schema_that_is_not_there_yet_is_a_warning() {
    let database = TestDb::without_queue().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    assert_snapshot!(user.run(&["apply"]));
    user.run(&["stage", "webhooks", "--task", "t", "--context", "{\"account_id\": 1}"]).succeeds();
}

#[tokio::test]
async fn a_queue_whose_tables_do_not_fit_exits_with_1() {
    let database = TestDb::new().await;
    let change = "ALTER TABLE graphile_worker._private_jobs RENAME COLUMN last_error TO error";
    sqlx::query(change).execute(database.pool()).await.unwrap();
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    assert_snapshot!(user.run(&["apply"]));
}

#[tokio::test]
async fn a_file_with_a_lower_revision_is_left_alone() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, &format!("revision = 7\n{PLAIN}"));
    user.write("fairgate.toml", format!("revision = 6\n{PLAIN}{LIMITED}"));
    assert_snapshot!(user.run(&["apply"]));
}

#[tokio::test]
async fn the_same_revision_cannot_stand_for_two_things() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, &format!("revision = 7\n{PLAIN}"));
    user.write("fairgate.toml", format!("revision = 7\n{PLAIN}{LIMITED}"));
    assert_snapshot!(user.run(&["apply"]));
}

#[tokio::test]
async fn a_wrong_file_registers_nothing() {
    let database = TestDb::new().await;
    let user = User::of(&database);
    user.write("fairgate.toml", format!("{PLAIN}max_pending = 0\n"));
    assert_snapshot!(user.run(&["apply"]));
    assert_eq!(user.run(&["policies", "--json"]).succeeds().json()["policies"], serde_json::json!([]));
}
