use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

/// Two jobs that their queue refused for good.
async fn with_quarantined(database: &TestDb) -> (User, Vec<String>) {
    let user = User::with_policies(database, PLAIN);
    let line = "{\"task\": \"t\", \"partition_key\": \"acct:7\"}\n";
    user.run_with(&["stage", "webhooks", "--ndjson", "-"], &line.repeat(2)).succeeds();
    let set_aside = "INSERT INTO fairgate.quarantined (job_id, partition_id, policy_id, partition_key, priority, staged_at, task, payload, context,
                            forward_attempts, error, quarantined_at)
                     SELECT job_id, partition_id, policy_id, partition_key, priority, staged_at, task, payload, context, 5, 'no such task', now() - interval '3 days'
                       FROM fairgate.staged";
    sqlx::raw_sql(set_aside).execute(database.pool()).await.unwrap();
    sqlx::raw_sql("TRUNCATE fairgate.staged, fairgate.delta").execute(database.pool()).await.unwrap();
    let ids = sqlx::query_scalar("SELECT job_id::text FROM fairgate.quarantined ORDER BY job_id");
    (user, ids.fetch_all(database.pool()).await.unwrap())
}

#[tokio::test]
async fn quarantined_jobs_are_listed_and_restaged_by_id() {
    let database = TestDb::new().await;
    let (user, ids) = with_quarantined(&database).await;
    assert_snapshot!(user.run(&["quarantine", "list"]));
    let json = user.run(&["quarantine", "list", "webhooks", "--json"]).succeeds().json();
    assert_eq!(json["jobs"][0]["error"], "no such task");
    assert_snapshot!(user.run(&["quarantine", "restage", &ids[0]]));
    assert_snapshot!(user.run(&["quarantine", "restage", &ids[0], &ids[1]]));
    assert_snapshot!(user.run(&["quarantine", "list"]));
    assert_eq!(user.run(&["status", "--json"]).succeeds().json()["policies"][0]["pending"], 2);
}

#[tokio::test]
async fn dropping_all_of_a_policy_needs_a_yes() {
    let database = TestDb::new().await;
    let (user, _) = with_quarantined(&database).await;
    assert_snapshot!(user.run(&["quarantine", "drop", "--all", "webhooks"]));
    assert_snapshot!(user.run(&["quarantine", "drop", "--all", "webhooks", "--yes"]));
    assert_snapshot!(user.run(&["quarantine", "drop", "--all", "webhooks"]));
}

#[tokio::test]
async fn restaging_into_a_retired_policy_is_refused() {
    let database = TestDb::new().await;
    let (user, _) = with_quarantined(&database).await;
    sqlx::raw_sql("UPDATE fairgate.policy SET retired = true").execute(database.pool()).await.unwrap();
    assert_snapshot!(user.run(&["quarantine", "restage", "--all", "webhooks"]));
}
