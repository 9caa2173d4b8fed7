//! Statements 1-8: when a poll goes, what it asks, and what it leaves.

use std::time::Duration;

use fairgate::budget::{Ask, Borrow, Reserved};
use pushfeed::ingest::run::Outcome;
use pushfeed::ingest::{Polled, poll};
use serde_json::json;

use crate::support::{Feed, ran};

const FIRST: &str = "/events?per_page=100";

fn outcome(polled: &Polled) -> Outcome {
    match polled {
        Polled::Ran { outcome, .. } => *outcome,
        other => panic!("{other:?}"),
    }
}

fn held_up_by(polled: &Polled) -> &'static str {
    match polled {
        Polled::NotDue { component, .. } => component,
        other => panic!("{other:?}"),
    }
}

fn answers(pages: &serde_json::Value) -> serde_json::Value {
    json!({ FIRST: pages })
}

#[tokio::test]
async fn statement_1_cadence_counts_from_the_end_of_an_attempted_run() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    assert_eq!(held_up_by(&feed.poll().await), "cadence");
    feed.later("299 seconds").await;
    assert_eq!(held_up_by(&feed.poll().await), "cadence");
    feed.later("1 second").await;
    feed.polled().await;
}

#[tokio::test]
async fn statement_2_force_drops_the_cadence_and_the_etag_and_nothing_else() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    assert_eq!(held_up_by(&feed.force().await), "poll_floor");
    feed.later("61 seconds").await;
    assert_eq!(held_up_by(&feed.poll().await), "cadence");
    // With the etag it would be a 304.
    assert_eq!(ran(feed.force().await).duplicates, 4);
    feed.later("301 seconds").await;
    assert_eq!(outcome(&feed.poll().await), Outcome::NotModified);
    for (column, held) in
        [("source SET backoff_until", "source_backoff"), ("source SET floor_until", "poll_floor")]
    {
        feed.execute(&format!("UPDATE pushfeed.{column} = now() + interval '1 h'")).await;
        assert_eq!(held_up_by(&feed.force().await), held);
        feed.execute(&format!("UPDATE pushfeed.{column} = NULL")).await;
    }
    feed.execute(
        "UPDATE fairgate.budget SET blocked_until = now() + interval '1 h', block_reason = 'secondary_limit'",
    )
    .await;
    assert_eq!(held_up_by(&feed.force().await), "global_block");
    feed.execute("UPDATE fairgate.budget SET blocked_until = NULL, block_reason = NULL; UPDATE fairgate.budget_use SET used = 12 WHERE class = 'poll'").await;
    assert_eq!(held_up_by(&feed.force().await), "poll_block");
}

#[tokio::test]
async fn statement_3_a_routine_reset_defers_nothing_and_a_304_keeps_the_last_floor() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    assert_eq!(feed.value("SELECT floor_seconds FROM pushfeed.source").await, "60");
    assert_eq!(feed.value("SELECT blocked_until FROM fairgate.budget").await, "null");
    let silent = Feed::answering(
        &answers(&json!([
            {"status": 200, "headers": {"etag": "\"a\"", "x-poll-interval": "90"}, "body": []},
            {"status": 304}
        ])),
        &[],
    )
    .await;
    silent.polled().await;
    silent.later("301 seconds").await;
    assert_eq!(outcome(&silent.poll().await), Outcome::NotModified);
    assert_eq!(silent.value("SELECT floor_seconds FROM pushfeed.source").await, "90");
    let ahead = "SELECT floor_until > now() + interval '80 s' FROM pushfeed.source";
    assert_eq!(silent.value(ahead).await, "true");
}

#[tokio::test]
async fn statement_4_paging_stops_at_the_cap_and_a_known_event_does_not_stop_it() {
    let capped = Feed::with(&[("MAX_PAGES_PER_POLL", "2")]).await;
    assert_eq!(capped.polled().await.pages, 2);
    let all = Feed::with(&[("MAX_PAGES_PER_POLL", "9"), ("POLL_INTERVAL_SECONDS", "900")]).await;
    let counts = all.polled().await;
    assert_eq!(
        (counts.pages, counts.seen, counts.duplicates),
        (3, 11, 1),
        "page 2 ends with a known event, and has page 3 behind it"
    );
    assert_eq!(all.value("SELECT etag FROM pushfeed.source").await, "W/\"first-page-1\"", "verbatim");
}

#[tokio::test]
async fn statement_4_paging_stops_at_a_visited_link_an_empty_page_and_a_refused_reservation() {
    let link = |to: &str| json!({"link": format!("<https://api.github.com{to}>; rel=\"next\"")});
    let settings = [("MAX_PAGES_PER_POLL", "4"), ("POLL_INTERVAL_SECONDS", "900")];
    let circle = json!({FIRST: [{"status": 200, "headers": link(FIRST), "body": [{"type": "x"}]}]});
    assert_eq!(Feed::answering(&circle, &settings).await.polled().await.pages, 1);
    let empty = json!({FIRST: [{"status": 200, "headers": link("/p2"), "body": []}]});
    assert_eq!(Feed::answering(&empty, &settings).await.polled().await.pages, 1);
    let hostile =
        Feed::with(&[("GITHUB_FIXTURE_SCENARIO", "hostile_link"), ("MAX_PAGES_PER_POLL", "3")]).await;
    assert_eq!(hostile.polled().await.pages, 1);
    // Of the second page the reserve is reached: what was fetched is kept, and the run worked.
    let page = include_str!("../../fixtures/default.json")
        .replace("\"x-ratelimit-remaining\": \"59\"", "\"x-ratelimit-remaining\": \"8\"");
    let scenario: serde_json::Value = serde_json::from_str(&page).unwrap();
    let dry = Feed::answering(&scenario["answers"], &[("MAX_PAGES_PER_POLL", "3")]).await;
    let polled = dry.poll().await;
    assert_eq!(outcome(&polled), Outcome::Succeeded);
    assert_eq!(ran(polled).pages, 1);
    assert_eq!(dry.value("SELECT block_reason FROM fairgate.budget").await, "reserve_reached");
}

/// Happens once, right after the first page is written.
fn after_the_first_page(what: &str) -> String {
    format!(
        "CREATE FUNCTION public.happen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {what}; RETURN NULL; END $$;
         CREATE TRIGGER happen AFTER INSERT ON pushfeed.push_event FOR EACH STATEMENT EXECUTE FUNCTION public.happen()"
    )
}

#[tokio::test]
async fn statement_4_each_reason_to_refuse_the_second_page_stops_paging_and_keeps_the_first() {
    // A poll may open a window and its class is not divided: an untold window and a spent share never refuse it.
    let reasons = [
        (
            "globally_blocked",
            "UPDATE fairgate.budget SET blocked_until = now() + interval '1 h', block_reason = 'secondary_limit'",
        ),
        ("reserve_reached", "UPDATE fairgate.budget SET remaining = 8"),
        ("class_exhausted", "UPDATE fairgate.budget_use SET used = 36 WHERE class = 'poll'"),
        ("gate_busy", "PERFORM pg_advisory_lock(hashtextextended('gate:github-core', 0))"),
    ];
    let settings = [("MAX_PAGES_PER_POLL", "3"), ("REQUEST_GATE_WAIT_SECONDS", "0")];
    for (reason, what) in reasons {
        let feed = Feed::with(&settings).await;
        feed.execute(&after_the_first_page(what)).await;
        let polled = feed.poll().await;
        assert_eq!(outcome(&polled), Outcome::Succeeded, "{reason}");
        let counts = ran(polled);
        assert_eq!((counts.pages, counts.created), (1, 4), "{reason}");
        let kept = "SELECT outcome || ' ' || pages || ' ' || created FROM pushfeed.run";
        assert_eq!(feed.column(kept).await, ["succeeded 1 4"], "{reason}");
        assert_eq!(
            feed.value("SELECT etag FROM pushfeed.source").await,
            "W/\"first-page-1\"",
            "{reason}: of the first page"
        );
        if reason != "gate_busy" {
            let mut conn = feed.db.connect().await;
            let plan = feed.app.budget.plan();
            let ask = Ask::new(plan, pushfeed::plan::poll_lane(plan), Borrow::No).unwrap();
            let Reserved::Denied(denial) = feed.app.budget.reserve(&mut conn, ask, None).await.unwrap()
            else {
                panic!("{reason} does not refuse")
            };
            assert_eq!(denial.reason.code(), reason);
        }
        let used = if reason == "class_exhausted" { "36" } else { "1" };
        assert_eq!(
            feed.value("SELECT used FROM fairgate.budget_use WHERE class = 'poll'").await,
            used,
            "{reason}"
        );
    }
}

#[tokio::test]
async fn statement_5_refusals_change_no_state_and_a_contact_makes_a_run() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    let before = feed.everything().await;
    feed.poll().await;
    feed.force().await;
    feed.execute("UPDATE fairgate.budget_use SET used = used").await;
    let mut other = feed.app.worker().await.unwrap();
    assert!(other.locks.lock_source("events", Duration::ZERO).await.unwrap());
    assert!(matches!(feed.force().await, Polled::Busy));
    let strip =
        |all: Vec<String>| all.into_iter().filter(|row| !row.contains("github-core,")).collect::<Vec<_>>();
    assert_eq!(strip(feed.everything().await), strip(before));
    assert_eq!(feed.column("SELECT outcome FROM pushfeed.run").await, ["succeeded"]);
}

#[tokio::test]
async fn statement_5_a_denied_poll_leaves_no_run() {
    // What denies between the schedule and the debit: the gate.
    let quick = Feed::with(&[("REQUEST_GATE_WAIT_SECONDS", "0")]).await;
    let mut holder = quick.app.worker().await.unwrap();
    assert!(holder.locks.enter_gate(pushfeed::plan::BUDGET, Duration::ZERO).await.unwrap());
    assert!(matches!(quick.poll().await, Polled::Deferred(_)));
    assert_eq!(quick.value("SELECT count(*) FROM pushfeed.run").await, "0");
    assert_eq!(quick.value("SELECT last_finished_at FROM pushfeed.source").await, "null");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_6_one_poller_per_source_and_killing_it_frees_the_source() {
    let feed = Feed::of("default").await;
    let mut holder = feed.app.worker().await.unwrap();
    assert!(holder.locks.lock_source("events", Duration::ZERO).await.unwrap());
    assert!(matches!(feed.poll().await, Polled::Busy));
    let busy = feed.run(&["ingest"]);
    assert_eq!((busy.code, busy.stdout.lines().next().unwrap()), (0, "Busy: another poller is at work"));
    assert_eq!(busy.label("Persisted push events"), "0");
    let mut waiting = feed.app.worker().await.unwrap();
    let patient = poll(&mut waiting, false, Duration::from_secs(60));
    let killed = feed.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())");
    let (polled, ()) = tokio::join!(patient, killed);
    assert_eq!(ran(polled.unwrap()).created, 4);
}

#[tokio::test]
async fn statement_7_failures_are_tried_twice_more_each_reserved_anew() {
    let feed = Feed::of("recovering").await;
    assert_eq!(feed.polled().await.created, 4);
    assert_eq!(feed.value("SELECT used FROM fairgate.budget_use WHERE class = 'poll'").await, "3");
}

#[tokio::test]
async fn statement_7_the_source_backs_off_longer_each_time_and_a_success_clears_it() {
    let bad = json!({"status": 502});
    let feed = Feed::answering(
        &answers(&json!([bad, bad, bad, bad, {"status": 200, "body": []}])),
        &[("MAX_HTTP_RETRIES", "0")],
    )
    .await;
    for (n, wait) in [60, 120, 240, 480].into_iter().enumerate() {
        assert_eq!(outcome(&feed.poll().await), Outcome::Failed);
        let within = format!(
            "SELECT failures = {} AND backoff_until - last_finished_at BETWEEN interval '{wait} s' AND interval '{wait} s' * 1.1 FROM pushfeed.source",
            n + 1
        );
        assert_eq!(feed.value(&within).await, "true", "{n}");
        feed.later("600 seconds").await;
    }
    feed.polled().await;
    assert_eq!(feed.value("SELECT failures FROM pushfeed.source WHERE backoff_until IS NULL").await, "0");
    assert_eq!(pushfeed::ingest::source::backoff(50), Duration::from_secs(3600));
}

#[tokio::test]
async fn statement_7_a_permanent_refusal_puts_the_source_out_of_service_even_for_force() {
    let feed = Feed::of("gone").await;
    assert_eq!(outcome(&feed.poll().await), Outcome::Refused);
    feed.later("1 day").await;
    let before = feed.everything().await;
    assert!(matches!(feed.force().await, Polled::OutOfService(why) if why == "GitHub answered 410"));
    assert_eq!(feed.everything().await, before);
    feed.execute("UPDATE pushfeed.source SET out_of_service = NULL").await;
    assert_eq!(outcome(&feed.poll().await), Outcome::Refused);
}

#[tokio::test]
async fn statement_8_a_body_that_is_not_json_is_a_failed_request() {
    let feed = Feed::of("not_json").await;
    assert_eq!(outcome(&feed.poll().await), Outcome::Failed);
    assert_eq!(feed.value("SELECT etag FROM pushfeed.source").await, "null");
    assert_eq!(feed.value("SELECT count(*) FROM pushfeed.quarantined_event").await, "0");
    assert_eq!(feed.value("SELECT used FROM fairgate.budget_use WHERE class = 'poll'").await, "1");
}
