use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

/// How long a child may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(30);

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// Reads stderr until a line contains `text`; returns what was read.
fn read_until(child: &mut Child, text: &str) -> String {
    let mut read = String::new();
    let stderr = BufReader::new(child.stderr.as_mut().unwrap());
    for line in stderr.lines() {
        let line = line.unwrap();
        read += &format!("{line}\n");
        if line.contains(text) {
            return read;
        }
    }
    panic!("stderr ended without {text:?}:\n{read}");
}

async fn waits_for_jobs_in_the_queue(database: &TestDb, jobs: i64) {
    let began = Instant::now();
    loop {
        let there: i64 = sqlx::query_scalar("SELECT count(*) FROM graphile_worker._private_jobs")
            .fetch_one(database.pool())
            .await
            .unwrap();
        if there == jobs {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{there} of {jobs} jobs reached the queue");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn run_registers_the_policies_admits_jobs_and_stops_on_sigterm() {
    let database = TestDb::new().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    let mut child = user.start(&["run", "--no-admin"]);
    read_until(&mut child, "admitting jobs");
    for key in ["a", "b"] {
        user.run(&["stage", "webhooks", "--task", "t", "--partition-key", key]).succeeds();
    }
    waits_for_jobs_in_the_queue(&database, 2).await;
    signal(&child, "-TERM");
    read_until(&mut child, "stopped");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn ctrl_c_stops_too() {
    let database = TestDb::new().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    let pages = ["--admin-bind", "127.0.0.1:0"];
    let mut child =
        user.start(&[&["run", "--policy", "webhooks", "--shard", "default"], &pages[..]].concat());
    let read = read_until(&mut child, "admitting jobs");
    assert!(read.starts_with("admin pages: http://127.0.0.1:"), "{read}");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn run_ends_by_itself_when_told_for_how_long() {
    let database = TestDb::without_queue().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    let ran = user.run(&["run", "--no-admin", "--for", "100ms"]).succeeds();
    assert!(ran.stderr.starts_with("warning: queue \"main\" is not ready: "), "{ran}");
    assert!(ran.stdout.is_empty(), "{ran}");
}

#[tokio::test]
async fn an_unknown_policy_is_refused_before_the_first_tick() {
    let database = TestDb::new().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    assert_snapshot!(user.run(&["run", "--no-admin", "--policy", "webhoks"]));
}

#[tokio::test]
async fn admin_pages_that_others_reach_need_a_password_and_without_one_nothing_begins() {
    let database = TestDb::new().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    assert_snapshot!(user.run(&["run", "--admin-bind", "0.0.0.0:0"]));
    let registered: i64 =
        sqlx::query_scalar("SELECT count(*) FROM fairgate.policy").fetch_one(database.pool()).await.unwrap();
    assert_eq!(registered, 0);
    let open = ["run", "--admin-bind", "0.0.0.0:0", "--admin-password", "secret", "--for", "100ms"];
    assert!(user.run(&open).succeeds().stderr.contains("admin pages: http://0.0.0.0:"));
}

#[tokio::test]
async fn an_address_that_is_taken_is_an_error_only_if_it_was_asked_for() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let database = TestDb::new().await;
    let user = User::of(&database);
    user.write("fairgate.toml", PLAIN);
    let ran = user.run(&["run", "--admin-bind", &address, "--for", "100ms"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("cannot listen on"), "{ran}");
}

#[test]
fn a_shard_needs_its_policy() {
    assert_snapshot!(User::new().run(&["run", "--shard", "eu"]));
}
