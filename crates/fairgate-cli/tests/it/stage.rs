use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

const CONTEXT: &[&str] = &["--context", "{\"account_id\": 7}"];

fn stage(user: &User, arguments: &[&str]) -> crate::support::Ran {
    user.run(&[&["stage", "webhooks", "--task", "deliver"], arguments].concat())
}

/// The one staged job, as text.
async fn staged(database: &TestDb, column: &'static str) -> String {
    let sql = format!("SELECT ({column})::text FROM fairgate.staged");
    sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(database.pool()).await.unwrap()
}

#[tokio::test]
async fn stage_prints_the_job_and_what_became_of_it() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_snapshot!(stage(&user, CONTEXT));
    assert_snapshot!(stage(&user, &[CONTEXT, &["--json"]].concat()));
}

#[tokio::test]
async fn a_payload_keeps_its_bytes_by_every_way_in() {
    let payload = "{\"z\":\"\\u0000\", \"n\":1e400,\"m\":-0,\"big\":18446744073709551617}";
    let (argument, file, stdin) = (payload.to_owned(), "@payload.json".to_owned(), "-".to_owned());
    for way in [argument, file, stdin] {
        let database = TestDb::new().await;
        let user = User::with_policies(&database, PLAIN);
        user.write("payload.json", format!("{payload}\n"));
        let arguments = ["stage", "webhooks", "--task", "t", "--partition-key", "k", "--payload", &way];
        user.run_with(&arguments, &format!("{payload}\n")).succeeds();
        assert_eq!(staged(&database, "payload").await, payload, "by {way}");
    }
}

#[tokio::test]
async fn every_field_arrives() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let fields = [
        "--partition-key",
        "acct:7",
        "--priority",
        "-3",
        "--run-at",
        "2999-01-31T12:00:00+02:00",
        "--queue-name",
        "slow",
        "--max-attempts",
        "4",
    ];
    stage(&user, &fields).succeeds();
    let columns = "(task, partition_key, priority, run_at AT TIME ZONE 'UTC', queue_name, max_attempts)";
    assert_eq!(staged(&database, columns).await, "(deliver,acct:7,-3,\"2999-01-31 10:00:00\",slow,4)");
}

#[tokio::test]
async fn a_relative_run_at_counts_from_the_databases_now() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    stage(&user, &[CONTEXT, &["--run-at", "+10m"]].concat()).succeeds();
    let near = "run_at BETWEEN staged_at + interval '9 minutes' AND staged_at + interval '10 minutes'";
    assert_eq!(staged(&database, near).await, "true");
}

#[tokio::test]
async fn a_disabled_policy_sends_straight_to_the_queue() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    user.run(&["disable", "webhooks"]).succeeds();
    assert_snapshot!(stage(&user, CONTEXT));
}

#[tokio::test]
async fn what_the_database_refuses_comes_with_its_hint() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_snapshot!(stage(&user, &[]));
    assert_snapshot!(user.run(&["stage", "webhook", "--task", "t"]));
    assert_snapshot!(stage(&user, &[CONTEXT, &["--priority", "99999"]].concat()));
}

#[test]
fn what_can_be_seen_without_a_database_is_refused_without_one() {
    let user = User::new();
    assert_snapshot!(stage(&user, &["--payload", "hello"]));
    assert_snapshot!(stage(&user, &["--context", "[1]"]));
    assert_snapshot!(stage(&user, &["--run-at", "tomorrow"]));
    assert_snapshot!(stage(&user, &["--run-at", "+10"]));
    assert_snapshot!(stage(&user, &["--payload", "@nowhere.json"]));
    assert_snapshot!(user.run(&["stage", "webhooks"]));
    assert_snapshot!(user.run(&["stage", "webhooks", "--ndjson", "f", "--payload", "{}"]));
}
