use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use fairgate_testkit::TestDb;
use serde_json::Value;

use crate::support::{PLAIN, Ran, User};

/// How long a condition may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

async fn becomes_true(database: &TestDb, question: &'static str) {
    let began = Instant::now();
    while !sqlx::query_scalar::<_, bool>(question).fetch_one(database.pool()).await.unwrap() {
        assert!(began.elapsed() < PATIENCE, "not within {PATIENCE:?}: {question}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a demo has jobs in flight. Its record is there before the first one.
async fn is_busy(database: &TestDb) {
    becomes_true(database, "SELECT to_regclass('fairgate_demo.staged') IS NOT NULL").await;
    becomes_true(database, "SELECT EXISTS (SELECT FROM fairgate.inflight WHERE policy = 'demo_pushes')")
        .await;
}

async fn number(database: &TestDb, question: &'static str) -> i64 {
    sqlx::query_scalar(question).fetch_one(database.pool()).await.unwrap()
}

/// Waits for the end without blocking the test's own connections.
async fn ended(arguments: &'static [&'static str], child: Child) -> Ran {
    let output = tokio::task::spawn_blocking(move || child.wait_with_output()).await.unwrap().unwrap();
    Ran::new(arguments, output)
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Whether everything that was staged was received, once each, within the limits.
#[track_caller]
pub(crate) fn assert_good(report: &Value) {
    assert!(report["staged"].as_i64() > Some(100), "{report:#}");
    for key in ["admitted", "done"] {
        assert_eq!(report[key], report["staged"], "{key} of {report:#}");
    }
    assert_eq!(report["duplicates"], 0, "{report:#}");
    assert_eq!(report["violations"], 0, "{:#}", report["audit"]);
}

#[tokio::test]
async fn a_demo_performs_every_delivery_once_and_leaves_others_alone() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    user.run(&["stage", "webhooks", "--task", "t", "--partition-key", "mine"]).succeeds();

    let report = user.run(&["demo", "--headless", "--for", "3s", "--json"]).succeeds().json();
    assert_good(&report);
    let tenants = report["tenants"].as_array().unwrap();
    let sum: i64 = tenants.iter().map(|tenant| tenant["done"].as_i64().unwrap()).sum();
    assert_eq!(report["done"], sum);
    assert!(tenants.iter().all(|tenant| tenant["in_flight"] == 0));
    for key in ["policy", "tenant", "staged", "admitted", "longest_wait_ms"] {
        assert!(!tenants[0][key].is_null(), "{key} of {:#}", tenants[0]);
    }

    assert_eq!(
        number(&database, "SELECT count(*) FROM fairgate.staged_jobs WHERE policy = 'webhooks'").await,
        1
    );
    assert_eq!(number(&database, "SELECT count(*) FROM graphile_worker._private_jobs").await, 0);
    let triggers = "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'fairgate.in_flight'::regclass";
    assert_eq!(number(&database, triggers).await, 0);
    assert_eq!(fairgate::doctor::audit(&mut database.connect().await).await.unwrap(), []);
}

/// Nine more jobs in flight beside one of a tenant that may have eight at most, for a moment.
const PLANT: &str = "
    WITH busy AS (SELECT f.* FROM fairgate.in_flight f JOIN fairgate.policy p ON p.id = f.policy_id WHERE p.name = 'demo_pushes' LIMIT 1)
    INSERT INTO fairgate.in_flight (admission_id, job_id, partition_id, policy_id, queue_id, admitted_at, queue_job_id, limits)
    SELECT gen_random_uuid(), gen_random_uuid(), partition_id, policy_id, queue_id, clock_timestamp(), 'planted', limits
      FROM busy, generate_series(1, 9);
    DELETE FROM fairgate.in_flight WHERE queue_job_id = 'planted'";

#[tokio::test]
async fn slots_taken_past_the_gates_are_reported() {
    const DEMO: &[&str] = &["demo", "--headless", "--for", "3s", "--json"];
    let database = TestDb::new().await;
    let user = User::of(&database);
    let child = user.start(DEMO);
    is_busy(&database).await;
    // The one job in flight that was seen may be done by now; then there is another.
    let began = Instant::now();
    while planted_nothing(&database).await {
        assert!(began.elapsed() < PATIENCE, "no job in flight to plant others beside");
        sqlx::raw_sql(PLANT).execute(database.pool()).await.unwrap();
    }
    let ran = ended(DEMO, child).await;
    assert_eq!(ran.code, 1, "{ran}");
    let report = ran.json();
    let found = |check: &str| {
        let findings = report["audit"].as_array().unwrap();
        findings.iter().find(|f| f["check"] == check).unwrap()["violations"].as_i64().unwrap()
    };
    assert!(found("over_cap") >= 1, "{:#}", report["audit"]);
    assert_eq!(found("strangers"), 9, "{:#}", report["audit"]);
    assert_eq!(report["done"], report["staged"]);
}

async fn planted_nothing(database: &TestDb) -> bool {
    let strangers = "SELECT count(*) FROM fairgate_demo.admitted a
                      WHERE NOT EXISTS (SELECT FROM fairgate_demo.staged s WHERE s.job_id = a.job_id)";
    number(database, strangers).await == 0
}

#[tokio::test]
async fn what_a_killed_demo_left_does_not_disturb_the_next() {
    let database = TestDb::new().await;
    let user = User::of(&database);
    let mut killed = user.start(&["demo", "--headless", "--for", "10m"]);
    is_busy(&database).await;
    killed.kill().unwrap();
    killed.wait().unwrap();
    becomes_true(
        &database,
        "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'fairgate%')",
    )
    .await;
    let report = user.run(&["demo", "--headless", "--for", "2s", "--json"]).succeeds().json();
    assert_good(&report);
    assert_eq!(fairgate::doctor::audit(&mut database.connect().await).await.unwrap(), []);
}

#[tokio::test]
async fn ctrl_c_ends_staging_and_the_rest_is_still_done() {
    const DEMO: &[&str] = &["demo", "--port", "0"];
    let database = TestDb::new().await;
    let user = User::of(&database);
    let child = user.start(DEMO);
    is_busy(&database).await;

    let second = user.run(&["demo", "--headless", "--for", "1s", "--json"]);
    assert_eq!((second.code, second.stdout.as_str()), (1, ""), "{second}");
    assert!(second.stderr.contains("error: another demo runs in this database\n  hint: "), "{second}");

    signal(&child, "-INT");
    let ran = ended(DEMO, child).await.succeeds();
    assert!(ran.stderr.contains("admin pages: http://127.0.0.1:"), "{ran}");
    assert!(ran.stdout.starts_with("policy "), "{ran}");
    assert!(ran.stdout.contains("each exactly once"), "{ran}");
    assert!(ran.stdout.contains("0 violations"), "{ran}");
}

#[tokio::test]
async fn a_second_ctrl_c_ends_it_at_once() {
    const DEMO: &[&str] = &["demo", "--headless", "--json"];
    let database = TestDb::new().await;
    let user = User::of(&database);
    let mut child = user.start(DEMO);
    is_busy(&database).await;
    // A policy that is paused never drains, so nothing but the second signal can end it.
    user.run(&["pause", "demo_issues"]).succeeds();
    becomes_true(&database, "SELECT EXISTS (SELECT FROM fairgate.staged_jobs WHERE policy = 'demo_issues')")
        .await;
    signal(&child, "-INT");
    // Two signals at once may arrive as one.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("staging has stopped")));
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "");
}
