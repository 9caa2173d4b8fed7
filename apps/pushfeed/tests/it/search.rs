//! Statement 44: batches on the search budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pushfeed::enrich::{Cycle, Kind, enrich};
use pushfeed::fetch::Deferral;
use pushfeed::ingest::Polled;
use serde_json::json;

use crate::live::Live;
use crate::mock::{Mock, Reply, whole};
use crate::support::Feed;

const USED: &str = "SELECT budget || ' ' || class || member || ' ' || used FROM fairgate.budget_use WHERE used > 0 ORDER BY 1";
const STATES: &str = "SELECT kind || ' ' || id || ' ' || state || coalesce(' ' || last_error, '') FROM pushfeed.entity ORDER BY kind, id";
const ROWS: &str = "SELECT e::text FROM pushfeed.entity e ORDER BY kind, id";

async fn searching() -> Feed {
    Feed::with(&[("GITHUB_FIXTURE_SCENARIO", "search"), ("SEARCH_BATCH_SIZE", "10")]).await
}

#[tokio::test]
async fn statement_44_two_searches_and_the_requests_for_what_they_missed_end_as_six_requests_do() {
    let (batches, singles) = (searching().await, Feed::of("default").await);
    batches.polled().await;
    singles.polled().await;
    let mut cycles = Vec::new();
    for _ in 0..6 {
        singles.enrich().await;
        cycles.push(match batches.enrich().await {
            Cycle::Searched(kind, enriched, missed) => format!("{} {enriched} {missed}", kind.code()),
            Cycle::Enriched(kind) => format!("{} enriched", kind.code()),
            Cycle::Failed(kind, why) => format!("{} {why}", kind.code()),
            other => format!("{other:?}"),
        });
    }
    assert_eq!(cycles[..2], ["actor 1 1", "repository 2 1"]);
    assert_eq!(cycles[5], "Nothing", "{cycles:?}");
    assert_eq!(batches.column(STATES).await, singles.column(STATES).await);
    let used = [
        "github-core enrichmentactor 2",
        "github-core enrichmentrepository 1",
        "github-core poll 1",
        "github-search searchactor 1",
        "github-search searchrepository 1",
    ];
    assert_eq!(batches.column(USED).await, used);
    assert_eq!(
        batches.value("SELECT remaining FROM fairgate.budget WHERE name = 'github-search'").await,
        "8"
    );
}

#[tokio::test]
async fn statement_44_what_is_off_makes_no_budget_and_no_search() {
    let feed = Feed::of("search").await;
    feed.polled().await;
    let ran = feed.run(&["enrich", "--limit", "6"]);
    assert_eq!((ran.label("Entities enriched"), ran.label("Actor requests used")), ("4", "3 of 20"));
    assert_eq!(feed.column("SELECT name FROM fairgate.budget").await, ["github-core"]);
    assert!(!feed.run(&["status"]).stdout.contains("search"));
}

#[tokio::test]
async fn statement_44_the_commands_count_batches_and_show_both_budgets() {
    let feed = searching().await;
    feed.run(&["ingest"]);
    let ran = feed.run(&["enrich", "--limit", "5"]);
    let labels = ["Enrichment cycles", "Entities enriched", "Entities failed", "Repository requests used"];
    assert_eq!(labels.map(|label| ran.label(label)), ["5", "4", "2", "1 of 20"]);
    let status = feed.run(&["status"]);
    assert_eq!((status.label("Searches used"), status.label("Budget remaining (search)")), ("2 of 10", "8"));
}

#[tokio::test]
async fn statement_44_a_spent_minute_stops_searches_alone_and_the_service_waits_for_the_next() {
    let feed = searching().await;
    feed.polled().await;
    feed.enrich().await;
    feed.execute("UPDATE fairgate.budget SET remaining = 0, blocked_until = reset_at + interval '1 s', block_reason = 'nothing_remains' WHERE name = 'github-search'").await;
    assert!(matches!(feed.enrich().await, Cycle::Enriched(Kind::Actor) | Cycle::Enriched(Kind::Repository)));
    feed.execute(
        "UPDATE fairgate.budget_use SET used = 20 WHERE budget = 'github-core' AND class = 'enrichment'",
    )
    .await;
    let reset = feed
        .value("SELECT to_char(blocked_until AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') FROM fairgate.budget WHERE name = 'github-search'")
        .await;
    assert_eq!(feed.run(&["status"]).label("Next enrichment"), reset);
    feed.later("62 seconds").await;
    assert!(matches!(feed.enrich().await, Cycle::Searched(Kind::Repository, ..)));
}

#[tokio::test]
async fn statement_44_the_gate_holds_for_searches_and_a_deferred_batch_is_as_it_was() {
    let feed = Feed::with(&[
        ("GITHUB_FIXTURE_SCENARIO", "search"),
        ("SEARCH_BATCH_SIZE", "10"),
        ("REQUEST_GATE_WAIT_SECONDS", "0"),
    ])
    .await;
    feed.polled().await;
    let before = feed.column(ROWS).await;
    let mut holder = feed.app.worker().await.unwrap();
    assert!(holder.locks.enter_gate(pushfeed::plan::BUDGET, Duration::ZERO).await.unwrap());
    assert!(matches!(feed.enrich().await, Cycle::Deferred(Deferral::GateBusy)));
    assert_eq!(feed.column(ROWS).await, before);
    holder.locks.leave_gate().await.unwrap();
    assert!(matches!(feed.enrich().await, Cycle::Searched(..)));
}

#[tokio::test]
async fn statement_44_a_pause_asked_of_a_search_stops_core_requests_and_the_other_way() {
    let pause = json!([{"status": 429, "headers": {"retry-after": "90"}}]);
    let default: serde_json::Value =
        serde_json::from_str(include_str!("../../fixtures/default.json")).unwrap();
    let mut answers = default["answers"].clone();
    answers["/search/users?per_page=2&q=user:marta-lund+user:drifted-away"] = pause.clone();
    let feed = Feed::answering(&answers, &[("SEARCH_BATCH_SIZE", "10")]).await;
    feed.polled().await;
    assert!(matches!(feed.enrich().await, Cycle::Limited));
    let blocks = "SELECT concat_ws(' ', name, block_reason, secondary_streak, blocked_until - now() BETWEEN interval '80 s' AND interval '90 s') FROM fairgate.budget ORDER BY name";
    assert_eq!(
        feed.column(blocks).await,
        ["github-core secondary_limit 1 t", "github-search secondary_limit 1 t"]
    );
    assert!(matches!(feed.enrich().await, Cycle::Deferred(_)), "the bot, who is not searched for");
    assert!(matches!(feed.force().await, Polled::NotDue { component: "global_block", .. }));

    let mut answers = default["answers"].clone();
    answers["/users/dock-helper%5Bbot%5D"] = pause;
    let feed = Feed::answering(&answers, &[("SEARCH_BATCH_SIZE", "10")]).await;
    feed.polled().await;
    feed.execute("UPDATE pushfeed.entity SET next_retry_at = now() + interval '1 h' WHERE id <> 910002")
        .await;
    assert!(matches!(feed.enrich().await, Cycle::Limited));
    assert_eq!(
        feed.column(blocks).await,
        ["github-core secondary_limit 1 t", "github-search secondary_limit 1 t"]
    );
    // As if the one that was asked to pause did not search, and so knew of one budget.
    feed.execute("DELETE FROM fairgate.budget WHERE name = 'github-search'; UPDATE pushfeed.entity SET next_retry_at = NULL").await;
    assert!(matches!(feed.enrich().await, Cycle::Deferred(_)));
    assert_eq!(
        feed.column("SELECT sum(used) FROM fairgate.budget_use WHERE class = 'search'").await,
        ["null"]
    );
}

/// Pages of a feed that answers searches with `answer`, and everything else with 404.
async fn answering(answer: impl Fn(usize) -> Reply + Send + Sync + 'static) -> (Live, Mock) {
    let searches = Arc::new(AtomicUsize::new(0));
    let answer = Arc::new(answer);
    let mock = Mock::start(move |asked, _| {
        let (searches, answer) = (searches.clone(), answer.clone());
        async move {
            if asked.path.starts_with("/search/") {
                return answer(searches.fetch_add(1, Ordering::SeqCst));
            }
            whole(404, 50, &[], "{}")
        }
    })
    .await;
    let live = Live::asking(&mock, &[("SEARCH_BATCH_SIZE", "10")]).await;
    sqlx::raw_sql(
        "INSERT INTO fairgate.budget (name, opened_at, request_limit, remaining, reset_at) VALUES ('github-core', now(), 60, 59, now() + interval '1 h');
         INSERT INTO pushfeed.entity (kind, id, login, created_at, last_seen_at) SELECT 'actor', n, 'user-' || n, now(), now() - n * interval '1 s' FROM generate_series(1, 25) n",
    )
    .execute(live.db.pool())
    .await
    .unwrap();
    (live, mock)
}

fn found(ids: std::ops::RangeInclusive<i64>) -> Reply {
    let items: Vec<_> = ids.map(|id| json!({"id": id, "login": format!("user-{id}")})).collect();
    let Reply::Whole(status, headers, body) =
        whole(200, 9, &[], &json!({"total_count": items.len(), "items": items}).to_string())
    else {
        unreachable!()
    };
    let reset = (chrono::Utc::now().timestamp() + 60).to_string();
    let told = |(name, value): (String, String)| match name.as_str() {
        "x-ratelimit-resource" => (name, "search".to_owned()),
        "x-ratelimit-limit" => (name, "10".to_owned()),
        "x-ratelimit-reset" => (name, reset.clone()),
        _ => (name, value),
    };
    Reply::Whole(status, headers.into_iter().map(told).collect(), body)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_44_ten_a_request_newest_first_are_matched_by_id() {
    let (live, mock) = answering(|n| found(if n == 0 { 1..=10 } else { 11..=30 })).await;
    let mut worker = live.app.worker().await.unwrap();
    let mut cycles = Vec::new();
    for _ in 0..3 {
        cycles.push(format!("{:?}", enrich(&mut worker, None).await.unwrap()));
    }
    assert_eq!(cycles, ["Searched(Actor, 10, 0)", "Searched(Actor, 10, 0)", "Searched(Actor, 5, 0)"]);
    let paths: Vec<String> = mock.asked().into_iter().map(|asked| asked.path).collect();
    let ten: Vec<String> = (1..=10).map(|n| format!("user:user-{n}")).collect();
    assert_eq!(paths[0], format!("/search/users?per_page=10&q={}", ten.join("+")));
    let used: Vec<(String, i32)> =
        sqlx::query_as("SELECT budget, used FROM fairgate.budget_use WHERE used > 0")
            .fetch_all(live.db.pool())
            .await
            .unwrap();
    assert_eq!(
        used,
        [("github-search".to_owned(), 3)],
        "each search is a debit of the search budget, and of no other"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_44_whatever_a_search_does_not_bring_is_asked_for_alone() {
    for reply in [
        whole(422, 50, &[], "{\"message\": \"Validation Failed\"}"),
        whole(502, 50, &[], ""),
        whole(200, 50, &[], "<html>"),
        whole(200, 50, &[], "{\"total_count\": 0}"),
        found(101..=110),
        Reply::Noise,
    ] {
        let said = format!("{reply:?}");
        let (live, mock) = answering(move |_| reply.clone()).await;
        let mut worker = live.app.worker().await.unwrap();
        let cycle = enrich(&mut worker, None).await.unwrap();
        assert!(matches!(cycle, Cycle::Searched(Kind::Actor, 0, 10)), "{cycle:?} after {said}");
        // The others are searched for, and then there is only who was missed.
        for _ in 0..2 {
            assert!(matches!(enrich(&mut worker, None).await.unwrap(), Cycle::Searched(Kind::Actor, 0, _)));
        }
        let cycle = enrich(&mut worker, None).await.unwrap();
        assert!(
            matches!(&cycle, Cycle::Failed(Kind::Actor, why) if why == "GitHub answered 404"),
            "{cycle:?}"
        );
        assert_eq!(mock.asked().last().unwrap().path, "/user/1", "{said}");
    }
}

#[tokio::test]
async fn statement_44_names_that_are_no_qualifiers_are_never_searched_for() {
    let feed = Feed::answering(&json!({}), &[("SEARCH_BATCH_SIZE", "10")]).await;
    feed.execute(
        "INSERT INTO fairgate.budget (name, opened_at, request_limit, remaining, reset_at) VALUES ('github-core', now(), 60, 8, now() + interval '1 h');
         INSERT INTO pushfeed.entity (kind, id, login, created_at, last_seen_at)
         SELECT 'actor', row_number() OVER (), name, now(), now() FROM unnest(ARRAY['x[bot]', 'a b', 'a+user:b', 'a&q=b', '', 'é', repeat('a', 40), E'a\n']) name;
         INSERT INTO pushfeed.entity (kind, id, full_name, created_at, last_seen_at)
         SELECT 'repository', row_number() OVER (), name, now(), now() FROM unnest(ARRAY['a', 'a/b/c', '/a', 'a/', 'a/b c', 'a/b#c', 'a/b%20c']) name",
    )
    .await;
    assert!(
        matches!(feed.enrich().await, Cycle::Deferred(_)),
        "the core budget is spent, and there is nobody to search for"
    );
    assert_eq!(feed.column("SELECT name FROM fairgate.budget").await, ["github-core"]);
}

#[tokio::test]
async fn statement_44_reactivation_forgets_that_a_search_missed() {
    let feed = searching().await;
    feed.polled().await;
    for _ in 0..2 {
        feed.enrich().await;
    }
    feed.execute("UPDATE pushfeed.entity SET state = 'skipped_budget' WHERE id = 910003; DELETE FROM pushfeed.push_event WHERE actor_id = 910003").await;
    feed.later("301 seconds").await;
    feed.force().await;
    assert_eq!(
        feed.column("SELECT state || not_found_at::text FROM pushfeed.entity WHERE id = 910003").await,
        ["null"]
    );
}
