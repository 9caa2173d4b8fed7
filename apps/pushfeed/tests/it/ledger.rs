//! Statements 15-27, as pushfeed uses the ledger.

use std::time::Duration;

use pushfeed::enrich::Cycle;
use pushfeed::fetch::Deferral;
use pushfeed::ingest::Polled;
use serde_json::json;

use crate::support::{Feed, ran};

const FIRST: &str = "/events?per_page=100";
const USED: &str = "SELECT class || member || ' ' || used FROM fairgate.budget_use ORDER BY 1";

#[tokio::test]
async fn statement_15_every_attempt_that_leaves_the_machine_is_debited() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    feed.later("301 seconds").await;
    feed.poll().await;
    feed.later("61 seconds").await;
    ran(feed.force().await);
    assert_eq!(
        feed.value("SELECT used FROM fairgate.budget_use WHERE class = 'poll'").await,
        "3",
        "a page, a 304, a forced one"
    );
    let moved = Feed::of("redirect").await;
    moved.polled().await;
    for _ in 0..6 {
        moved.enrich().await;
    }
    // Actor 1 in two hops, the other two in one; repository 1 in two, the circle in three, the last in one.
    assert_eq!(moved.column(USED).await, ["enrichmentactor 4", "enrichmentrepository 6", "poll 1"]);
    let circle =
        "SELECT last_error FROM pushfeed.repositories WHERE state = 'permanent_failure' ORDER BY id LIMIT 1";
    assert_eq!(moved.value(circle).await, "too many redirects");
}

#[tokio::test]
async fn statement_18_another_program_may_have_spent_before_the_first_poll() {
    let feed = Feed::answering(
        &json!({FIRST: [{"status": 200, "headers": {"x-ratelimit-limit": "60", "x-ratelimit-remaining": "21", "x-ratelimit-reset": "+1200"}, "body": []}]}),
        &[],
    )
    .await;
    assert!(matches!(feed.enrich().await, Cycle::Nothing));
    feed.polled().await;
    assert_eq!(feed.value("SELECT remaining FROM fairgate.budget").await, "21");
}

#[tokio::test]
async fn statement_17_enrichment_is_refused_in_an_untold_window_and_a_poll_goes() {
    let feed = Feed::answering(
        &json!({FIRST: [{"status": 200, "body": [serde_json::from_str::<serde_json::Value>(EVENT).unwrap()]}]}),
        &[],
    )
    .await;
    feed.polled().await;
    let deferred = feed.enrich().await;
    assert!(
        matches!(deferred, Cycle::Deferred(Deferral::Denied(denial)) if denial.reason.code() == "window_uninitialized" && denial.until.is_none())
    );
    let printed = feed.run(&["enrich"]);
    assert_eq!(printed.stdout.lines().next().unwrap(), "Deferred: window_uninitialized");
    assert_eq!(printed.label("Next enrichment"), "after the next poll (window_uninitialized)");
    let status = feed.run(&["status"]);
    assert_eq!(
        (status.label("Budget remaining (core)"), status.label("Budget reset (core)")),
        ("unknown", "unknown")
    );
}

const EVENT: &str = r#"{"id": "5", "type": "PushEvent", "created_at": "2026-01-01T00:00:00Z", "actor": {"id": 1, "login": "a"}, "repo": {"id": 2, "name": "a/r"},
    "payload": {"repository_id": 2, "push_id": 3, "ref": "x", "head": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "before": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#;

#[tokio::test]
async fn statement_21_a_spent_window_blocks_all_until_its_reset() {
    let feed = Feed::of("primary_limit").await;
    feed.poll().await;
    let block =
        "SELECT block_reason || ' ' || (blocked_until = reset_at + interval '1 s') FROM fairgate.budget";
    assert_eq!(feed.value(block).await, "nothing_remains true");
    assert!(matches!(feed.force().await, Polled::NotDue { component: "global_block", .. }));
    assert!(feed.run(&["status"]).label("Global block").ends_with("(nothing_remains)"));
}

#[tokio::test]
async fn statement_24_a_secondary_limit_stops_everything_and_delays_the_source() {
    let feed = Feed::of("secondary_limit").await;
    feed.poll().await;
    let block = "SELECT block_reason || ' ' || secondary_streak || ' ' || (blocked_until - now() BETWEEN interval '110 s' AND interval '120 s') FROM fairgate.budget";
    assert_eq!(feed.value(block).await, "secondary_limit 1 true");
    assert_eq!(
        feed.value("SELECT backoff_until > now() + interval '110 s' FROM pushfeed.source").await,
        "true"
    );
}

#[tokio::test]
async fn statement_27_one_request_in_flight_and_who_waits_too_long_is_deferred() {
    let feed = Feed::with(&[("REQUEST_GATE_WAIT_SECONDS", "0")]).await;
    feed.polled().await;
    let mut holder = feed.app.worker().await.unwrap();
    assert!(holder.locks.enter_gate(pushfeed::plan::BUDGET, Duration::ZERO).await.unwrap());
    let rows = "SELECT e::text FROM pushfeed.entity e ORDER BY kind, id";
    let before = feed.column(rows).await;
    assert!(matches!(feed.enrich().await, Cycle::Deferred(Deferral::GateBusy)));
    assert_eq!(feed.column(rows).await, before, "the row is as it was");
    holder.locks.leave_gate().await.unwrap();
    assert!(matches!(feed.enrich().await, Cycle::Enriched(_)));
}

#[tokio::test]
async fn statement_23_a_kind_borrows_what_the_other_has_no_work_for() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    feed.execute("UPDATE fairgate.budget_use SET used = 20 WHERE member = 'actor'").await;
    let count = async |n: usize| {
        for _ in 0..n {
            feed.enrich().await;
        }
        feed.column(USED).await
    };
    assert_eq!(count(3).await, ["enrichmentactor 20", "enrichmentrepository 3", "poll 1"]);
    assert_eq!(count(3).await, ["enrichmentactor 23", "enrichmentrepository 3", "poll 1"]);
}

#[tokio::test]
async fn statement_31_a_share_that_is_spent_between_lease_and_debit_leaves_the_row_byte_for_byte() {
    for before in ["NULL", "now() - interval '7.654321 s'"] {
        let feed = Feed::of("default").await;
        feed.polled().await;
        feed.execute(&format!("UPDATE pushfeed.entity SET next_retry_at = {before}, attempts = 3, last_error = 'x', state = 'retryable_failure'")).await;
        // Another process spends the share as soon as a row is leased.
        feed.execute(
            "CREATE TABLE public.leased (id bigint, attempts int);
             CREATE FUNCTION public.spend() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                 INSERT INTO public.leased VALUES (NEW.id, NEW.attempts);
                 UPDATE fairgate.budget_use SET used = 20 WHERE member = 'actor'; RETURN NULL; END $$;
             CREATE TRIGGER spend AFTER UPDATE ON pushfeed.entity FOR EACH ROW WHEN (NEW.next_retry_at > now()) EXECUTE FUNCTION public.spend()",
        )
        .await;
        let rows = "SELECT e::text FROM pushfeed.entity e ORDER BY kind, id";
        let was = feed.column(rows).await;
        let cycle = feed.enrich().await;
        assert!(
            matches!(&cycle, Cycle::Deferred(Deferral::Denied(denial)) if denial.reason.code() == "share_exhausted"),
            "{cycle:?}"
        );
        assert_eq!(feed.value("SELECT count(*) FROM public.leased").await, "1", "it was leased");
        assert_eq!(feed.column(rows).await, was, "{before}");
        assert_eq!(feed.column(USED).await, ["enrichmentactor 20", "enrichmentrepository 0", "poll 1"]);
    }
}
