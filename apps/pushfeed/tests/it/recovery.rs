//! Processes killed at each step of a poll and of an enrichment, and what the next one finds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, Transaction};

use crate::live::good;
use crate::mock::{Mock, Reply};
use crate::support::{Feed, Ran, Running, until};

const POLLS: &str = "SELECT used FROM fairgate.budget_use WHERE class = 'poll'";
const SOMEBODY_WAITS: &str = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')";
const NOBODY_ELSE: &str = "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pushfeed')";

/// A feed whose processes ask a server that answers, or keeps silent when it is told to.
async fn feed_of(silent: &Arc<AtomicBool>) -> (Feed, Mock) {
    let quiet = silent.clone();
    let mock = Mock::start(move |asked, _| {
        let quiet = quiet.load(Ordering::SeqCst);
        async move { if quiet { Reply::Silence } else { good(&asked.path) } }
    })
    .await;
    let address = mock.address.to_string();
    let feed = Feed::with(&[
        ("GITHUB_MODE", "live"),
        ("GITHUB_CONNECT_TO", &address),
        ("SOURCE_LOCK_WAIT_SECONDS", "30"),
    ])
    .await;
    (feed, mock)
}

async fn talking() -> (Feed, Mock) {
    feed_of(&Arc::new(AtomicBool::new(false))).await
}

/// Holds what the statement locks until it is dropped.
async fn hold<'c>(conn: &'c mut PgConnection, sql: &str) -> Transaction<'c, Postgres> {
    let mut tx = conn.begin().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut *tx).await.unwrap();
    tx
}

/// Makes whoever does this wait for advisory lock 7.
fn stall(event: &str, when: &str) -> String {
    format!(
        "CREATE FUNCTION public.stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF {when} THEN PERFORM pg_advisory_xact_lock(7); END IF; RETURN NEW; END $$;
         CREATE TRIGGER stall BEFORE {event} FOR EACH ROW EXECUTE FUNCTION public.stall()"
    )
}

/// Runs a command, kills it when it waits for the lock, and lets the lock go.
async fn killed_while_waiting_for(feed: &Feed, arguments: &[&str], lock: &str) {
    let mut conn = feed.db.connect().await;
    let held = hold(&mut conn, lock).await;
    let mut process = Running::start(feed, arguments);
    until(feed, SOMEBODY_WAITS).await;
    process.kill();
    // The server notices a client that is gone when it next reads from it: here the lock is cut off like a connection.
    feed.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pushfeed'").await;
    held.rollback().await.unwrap();
    until(feed, NOBODY_ELSE).await;
}

fn polled(ran: &Ran) -> &str {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.label("Push events created")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_killed_after_its_debit_leaves_the_debit_and_no_run() {
    let (feed, mock) = talking().await;
    feed.execute(&stall("INSERT ON pushfeed.run", "true")).await;
    killed_while_waiting_for(&feed, &["ingest"], "SELECT pg_advisory_xact_lock(7)").await;
    assert_eq!((feed.value(POLLS).await.as_str(), mock.asked().len()), ("1", 0));
    assert_eq!(feed.value("SELECT count(*) FROM pushfeed.run").await, "0");
    assert_eq!(polled(&feed.run(&["ingest"])), "1");
    assert_eq!(feed.value(POLLS).await, "2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_killed_while_its_request_is_on_its_way_frees_both_locks_and_the_next_one_says_so() {
    let silent = Arc::new(AtomicBool::new(true));
    let (feed, mock) = feed_of(&silent).await;
    let mut process = Running::start(&feed, &["ingest"]);
    until(&feed, "SELECT EXISTS (SELECT FROM pushfeed.run)").await;
    while mock.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    silent.store(false, Ordering::SeqCst);
    process.kill();
    assert_eq!(polled(&feed.run(&["ingest"])), "1");
    assert_eq!(feed.value(POLLS).await, "2");
    assert_eq!(
        feed.column("SELECT outcome FROM pushfeed.run ORDER BY started_at").await,
        ["interrupted", "succeeded"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_killed_before_it_reconciles_or_commits_its_page_loses_nothing() {
    for lock in [
        "LOCK TABLE pushfeed.push_event IN EXCLUSIVE MODE",
        "LOCK TABLE pushfeed.entity IN EXCLUSIVE MODE",
        "LOCK TABLE pushfeed.source IN EXCLUSIVE MODE",
    ] {
        let (feed, _mock) = talking().await;
        killed_while_waiting_for(&feed, &["ingest"], lock).await;
        let ran = feed.run(&["ingest"]);
        polled(&ran);
        assert_eq!(ran.label("Persisted push events"), "1", "{lock}");
        assert_eq!(feed.value(POLLS).await, "2", "{lock}");
        assert_eq!(feed.column("SELECT state FROM pushfeed.entity").await, ["pending", "pending"], "{lock}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_43_an_enrichment_killed_on_the_way_is_found_again_when_its_lease_is_over() {
    let silent = Arc::new(AtomicBool::new(false));
    let (feed, mock) = feed_of(&silent).await;
    feed.run(&["ingest"]);
    silent.store(true, Ordering::SeqCst);
    let mut process = Running::start(&feed, &["enrich", "--class", "actor"]);
    while mock.asked().len() < 2 {
        tokio::task::yield_now().await;
    }
    process.kill();
    silent.store(false, Ordering::SeqCst);
    assert_eq!(feed.run(&["enrich", "--class", "actor"]).label("Enrichment cycles"), "0", "leased");
    feed.later("10 minutes").await;
    let ran = feed.run(&["enrich", "--class", "actor"]);
    assert_eq!((ran.label("Entities enriched"), ran.label("Actor requests used")), ("1", "2 of 20"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_enrichment_killed_before_it_writes_its_outcome_is_tried_again() {
    let (feed, _mock) = talking().await;
    feed.run(&["ingest"]);
    // The lease is written, the outcome is not.
    feed.execute(&stall("UPDATE ON pushfeed.entity", "NEW.state = 'complete'")).await;
    killed_while_waiting_for(&feed, &["enrich", "--class", "actor"], "SELECT pg_advisory_xact_lock(7)").await;
    assert_eq!(feed.column("SELECT state FROM pushfeed.actors").await, ["pending"]);
    feed.later("10 minutes").await;
    assert_eq!(feed.run(&["enrich", "--class", "actor"]).label("Entities enriched"), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_6_of_two_pollers_at_once_one_polls() {
    let (feed, mock) = talking().await;
    let (one, two) = (feed.command(&["ingest"], &[]), feed.command(&["ingest"], &[]));
    let spawn = |mut command: std::process::Command| {
        tokio::task::spawn_blocking(move || Ran::new(command.output().unwrap()))
    };
    let (one, two) = tokio::join!(spawn(one), spawn(two));
    let mut answers = [one.unwrap(), two.unwrap()]
        .map(|ran| ran.stdout.lines().next().unwrap().split(' ').next().unwrap().to_owned());
    answers.sort();
    assert_eq!(answers, ["Deferred:", "Polled"]);
    assert_eq!(mock.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_enrichers_at_once_never_ask_for_one_entity_twice() {
    let (feed, mock) = talking().await;
    feed.run(&["ingest"]);
    let spawn = |mut command: std::process::Command| {
        tokio::task::spawn_blocking(move || Ran::new(command.output().unwrap()))
    };
    let four = ["enrich", "--limit", "4"];
    let (one, two) = tokio::join!(spawn(feed.command(&four, &[])), spawn(feed.command(&four, &[])));
    assert_eq!((one.unwrap().code, two.unwrap().code), (0, 0));
    let mut paths: Vec<String> = mock.asked().into_iter().map(|asked| asked.path).collect();
    paths.sort();
    assert_eq!(paths, ["/events?per_page=100", "/repos/a/r", "/users/a"]);
    assert_eq!(feed.column("SELECT state FROM pushfeed.entity").await, ["complete", "complete"]);
}
