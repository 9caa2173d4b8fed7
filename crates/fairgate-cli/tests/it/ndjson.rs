use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, Ran, User};

fn stage(user: &User, lines: &str, more: &[&str]) -> Ran {
    user.run_with(&[&["stage", "webhooks", "--ndjson", "-"], more].concat(), lines)
}

async fn count(database: &TestDb) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM fairgate.staged").fetch_one(database.pool()).await.unwrap()
}

#[tokio::test]
async fn a_file_of_jobs_is_staged_and_counted() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let lines = "{\"task\":\"a\",\"context\":{\"account_id\":1}}\n\n  \n{\"task\":\"b\",\"partition_key\":7}\r\n{\"task\":\"c\",\"partition_key\":\"k\"}";
    user.write("jobs.ndjson", format!("\u{feff}{lines}"));
    assert_snapshot!(user.run(&["stage", "webhooks", "--ndjson", "jobs.ndjson"]));
    let json = stage(&user, lines, &["--json"]).succeeds().json();
    assert_eq!((&json["policy"], &json["staged"], &json["sent"]), (&"webhooks".into(), &3.into(), &0.into()));
    let lines: Vec<i64> =
        json["jobs"].as_array().unwrap().iter().map(|job| job["line"].as_i64().unwrap()).collect();
    assert_eq!(lines, [1, 4, 5]);
    assert_eq!(count(&database).await, 6);
}

#[tokio::test]
async fn every_key_of_a_line_arrives_and_the_payload_keeps_its_bytes() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let payload = "{ \"z\":\"\\u0000\",\"n\":1e400 , \"m\":-0}";
    let line = format!(
        "{{\"max_attempts\":4,\"payload\":{payload},\"task\":\"t\",\"context\":{{\"account_id\":18446744073709551617}},\
         \"partition_key\":\"k\",\"priority\":-3,\"run_at\":\"2999-01-31T12:00:00Z\",\"queue_name\":\"slow\"}}"
    );
    stage(&user, &line, &[]).succeeds();
    let row: (String, String, i32, Option<String>, Option<i32>, String) = sqlx::query_as(
        "SELECT payload::text, partition_key, priority, queue_name, max_attempts, (run_at AT TIME ZONE 'UTC')::text || ' ' || (context ->> 'account_id')
           FROM fairgate.staged",
    )
    .fetch_one(database.pool())
    .await
    .unwrap();
    let expected = (payload, "k", -3, Some("slow"), Some(4), "2999-01-31 12:00:00 18446744073709551617");
    assert_eq!((&*row.0, &*row.1, row.2, row.3.as_deref(), row.4, &*row.5), expected);
}

#[tokio::test]
async fn a_payload_of_null_is_a_payload_and_none_is_an_empty_object() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    stage(
        &user,
        "{\"task\":\"a\",\"partition_key\":\"k\",\"payload\":null}\n{\"task\":\"b\",\"partition_key\":\"k\"}",
        &[],
    )
    .succeeds();
    let payloads: Vec<String> = sqlx::query_scalar("SELECT payload::text FROM fairgate.staged ORDER BY task")
        .fetch_all(database.pool())
        .await
        .unwrap();
    assert_eq!(payloads, ["null", "{}"]);
}

#[tokio::test]
async fn wrong_lines_of_every_kind_are_named_together_and_nothing_is_staged() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let lines = "\
{\"task\":\"fine\",\"partition_key\":\"k\"}
{\"task\":\"no key\"}
not json
{\"task\":\"t\",\"partition_key\":\"k\",\"colour\":1}
{\"partition_key\":\"k\"}
{\"task\":\"t\",\"partition_key\":\"k\",\"priority\":99999}
{\"task\":\"t\",\"partition_key\":\"k\",\"run_at\":\"soon\"}
{\"task\":\"t\",\"partition_key\":\"k\",\"dedupe_key\":\"d\"}
{\"task\":\"t\",\"partition_key\":{}}
{\"task\":\"t\",\"partition_key\":\"k\",\"context\":[1]}
{\"task\":\"t\",\"context\":{\"account_id\":1.5}}
";
    assert_snapshot!(stage(&user, lines, &[]));
    assert_eq!(count(&database).await, 0);
}

#[tokio::test]
async fn at_most_twenty_wrong_lines_are_shown() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let ran = stage(&user, &"nonsense\n".repeat(25), &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: 25 lines are wrong, so nothing was staged\n  line 1: "), "{ran}");
    assert!(ran.stderr.contains("\n  line 20: ") && !ran.stderr.contains("line 21:"), "{ran}");
    assert!(ran.stderr.contains("\n  and 5 more\n"), "{ran}");
}

#[tokio::test]
async fn the_database_is_not_asked_about_more_than_twenty_wrong_lines() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let ran = stage(&user, &"{\"task\":\"t\"}\n".repeat(30), &[]);
    assert!(
        ran.stderr.starts_with("error: at least 20 lines are wrong, so nothing was staged\n  line 1: "),
        "{ran}"
    );
    assert!(ran.stderr.contains("\n  line 20: ") && !ran.stderr.contains("line 21:"), "{ran}");
}

#[tokio::test]
async fn a_wrong_line_behind_the_first_chunk_undoes_the_whole_file() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let good = "{\"task\":\"t\",\"partition_key\":\"k\"}\n".repeat(12_000);
    let ran =
        stage(&user, &format!("{good}{{\"task\":\"t\",\"partition_key\":\"k\",\"max_attempts\":0}}\n"), &[]);
    assert_snapshot!(ran);
    assert_eq!(count(&database).await, 0);
    assert_eq!(stage(&user, &good, &[]).succeeds().stdout, "12000 staged\n");
    assert_eq!(count(&database).await, 12_000);
}

#[tokio::test]
async fn a_policy_that_is_not_registered_is_named_once() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let lines = "{\"task\":\"t\",\"partition_key\":\"k\"}\n";
    assert_snapshot!(user.run_with(&["stage", "nope", "--ndjson", "-"], lines));
}

#[test]
fn a_file_that_is_not_there_is_wrong_use() {
    assert_snapshot!(User::new().run(&["stage", "webhooks", "--ndjson", "nowhere.ndjson"]));
}

#[tokio::test]
async fn fields_of_the_wrong_type_and_a_nul_are_named_by_line_in_plain_words() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let lines = "\
{\"task\":\"fine\",\"partition_key\":\"k\"}
{\"task\":\"a\\u0000b\",\"partition_key\":\"k\"}
{\"task\":\"t\",\"partition_key\":\"k\\u0000\"}
{\"task\":\"t\",\"partition_key\":\"k\",\"dedupe_key\":\"\\u0000\"}
{\"task\":\"t\",\"partition_key\":\"k\",\"queue_name\":\"\\u0000\"}
{\"task\":\"t\",\"context\":{\"account_id\":\"\\u0000\"}}
{\"task\":7}
7
{\"task\":\"t\",\"partition_key\":\"k\",\"priority\":\"high\"}
{\"task\":\"t\",\"partition_key\":\"k\",\"max_attempts\":1.5}
{\"task\":\"t\",\"partition_key\":\"k\",\"run_at\":1700000000}
{\"task\":\"t\",\"partition_key\":\"k\",\"run_at\":\"1969-01-01T00:00:00Z\"}
{\"task\":\"t\",\"partition_key\":\"k\",\"priorty\":1}
{\"task\":\"t\",\"task\":\"t\",\"partition_key\":\"k\"}
{\"task\":\"t\",\"partition_key\":\"k\"},
{\"task\":\"t\"
";
    let ran = stage(&user, lines, &[]);
    for word in ["struct", "i32", "expected", "ident", "line 1 column"] {
        assert!(!ran.stderr.contains(word), "{word}: {ran}");
    }
    assert_snapshot!(ran);
    assert_eq!(count(&database).await, 0);
}

#[tokio::test]
async fn a_json_array_is_told_to_be_lines() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_snapshot!(stage(&user, "\n[\n  {\"task\":\"t\",\"partition_key\":\"k\"}\n]\n", &[]));
}

#[test]
fn a_folder_is_named_as_one() {
    let user = User::new();
    std::fs::create_dir(user.path().join("jobs")).unwrap();
    assert_snapshot!(user.run(&["stage", "webhooks", "--ndjson", "jobs"]));
}

#[tokio::test]
async fn what_is_echoed_of_a_huge_line_is_cut() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let huge = "x".repeat(1_000_000);
    for line in [
        format!("{{\"task\":\"t\",\"{huge}\":1}}"),
        format!("{{\"task\":\"t\",\"partition_key\":\"k\",\"run_at\":\"{huge}\"}}"),
        format!("{{\"task\":\"t\",\"context\":{{\"account_id\":1{}.5}}}}", "0".repeat(100_000)),
    ] {
        let ran = stage(&user, &line, &[]);
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.len() < 3_000, "{} bytes", ran.stderr.len());
    }
}
