//! Statements 28-36: candidates, leases, outcomes.

use std::time::Duration;

use pushfeed::enrich::choose::Pool;
use pushfeed::enrich::pool::{self, Outcome};
use pushfeed::enrich::summary::{self, Next};
use pushfeed::enrich::{Cycle, Kind};
use serde_json::{Value, json};

use crate::support::Feed;

/// Entities that are pending, with ids and how long ago they were last seen; documents answer unless told otherwise.
async fn feed_of(
    actors: &[(i64, &str)],
    repositories: &[(i64, &str)],
    answers: Value,
    settings: &[(&str, &str)],
) -> Feed {
    let feed = Feed::answering(&answers, settings).await;
    for (kind, entities) in [("actor", actors), ("repository", repositories)] {
        let path = if kind == "actor" { "user" } else { "repositories" };
        for (id, ago) in entities {
            feed.execute(&format!(
                "INSERT INTO pushfeed.entity (kind, id, login, full_name, api_url, created_at, first_seen_at, last_seen_at)
                 VALUES ('{kind}', {id}, CASE '{kind}' WHEN 'actor' THEN 'a' END, CASE '{kind}' WHEN 'repository' THEN 'a/r' END,
                         'https://api.github.com/{path}/{id}', now() - interval '{ago}', now() - interval '{ago}', now() - interval '{ago}')"
            ))
            .await;
        }
    }
    tell(&feed).await;
    feed
}

/// A window of which the server has told.
async fn tell(feed: &Feed) {
    feed.execute(
        "INSERT INTO fairgate.budget (name, opened_at, request_limit, remaining, reset_at) VALUES ('github-core', now(), 60, 59, now() + interval '1 h');
         INSERT INTO fairgate.budget_use (budget, class, member, used) VALUES ('github-core', 'poll', '', 1)",
    )
    .await;
}

fn document(id: i64) -> Value {
    json!([{"status": 200, "body": {"id": id, "login": "a"}}])
}

fn states() -> &'static str {
    "SELECT kind || ' ' || id || ' ' || state FROM pushfeed.entity ORDER BY kind, id"
}

#[tokio::test]
async fn statement_30_newest_first_then_unseen_by_id_and_the_kinds_take_turns() {
    let answers: Value = (1..=4)
        .map(|id| (format!("/user/{id}"), document(id)))
        .chain([("/repositories/9".to_owned(), document(9))])
        .collect();
    let feed =
        feed_of(&[(1, "50 min"), (2, "10 min"), (3, "20 min"), (4, "5 min")], &[(9, "1 min")], answers, &[])
            .await;
    feed.execute("UPDATE pushfeed.entity SET last_seen_at = NULL WHERE id IN (3, 4)").await;
    for _ in 0..5 {
        feed.enrich().await;
    }
    let order = "SELECT id FROM pushfeed.entity ORDER BY fetched_at";
    assert_eq!(feed.column(order).await, ["2", "9", "1", "3", "4"]);
}

#[tokio::test]
async fn statement_30_refreshes_go_oldest_first_and_not_while_anything_was_never_enriched() {
    let answers = json!({"/user/1": document(1), "/user/2": document(2), "/user/3": document(3)});
    let feed = feed_of(&[(1, "1 min"), (2, "1 min"), (3, "1 min")], &[], answers, &[]).await;
    for _ in 0..3 {
        feed.enrich().await;
    }
    feed.execute(
        "UPDATE pushfeed.entity SET fetched_at = now() - interval '25 h' - (id % 3) * interval '1 h'",
    )
    .await;
    feed.execute("UPDATE pushfeed.entity SET state = 'retryable_failure', next_retry_at = now() + interval '1 min' WHERE id = 3").await;
    assert!(matches!(feed.enrich().await, Cycle::Nothing), "one is backed off, and so nothing is refreshed");
    feed.execute("UPDATE pushfeed.entity SET state = 'complete', next_retry_at = NULL WHERE id = 3").await;
    for _ in 0..3 {
        assert!(matches!(feed.enrich().await, Cycle::Enriched(Kind::Actor)));
    }
    assert_eq!(feed.column("SELECT id FROM pushfeed.entity ORDER BY fetched_at").await, ["2", "1", "3"]);
}

#[tokio::test]
async fn statement_31_a_leased_row_is_hidden_from_both_pools_and_from_ageing() {
    let feed = feed_of(&[(1, "1 min")], &[], json!({}), &[]).await;
    let mut worker = feed.app.worker().await.unwrap();
    let leased =
        pool::lease(&mut worker.conn, &feed.app.config, Kind::Actor, Pool::New).await.unwrap().unwrap();
    assert_eq!(leased.before, None);
    assert!(pool::lease(&mut worker.conn, &feed.app.config, Kind::Actor, Pool::New).await.unwrap().is_none());
    feed.execute("UPDATE pushfeed.entity SET last_seen_at = now() - interval '2 h'").await;
    assert_eq!(pool::age_out(&mut worker.conn, &feed.app.config).await.unwrap(), 0);
    feed.execute(
        "UPDATE pushfeed.entity SET state = 'complete', document = '{}', fetched_at = now() - interval '2 d'",
    )
    .await;
    assert!(
        pool::lease(&mut worker.conn, &feed.app.config, Kind::Actor, Pool::Stale).await.unwrap().is_none()
    );
    // The gate and both time-outs, for the first attempt, two more and two redirects.
    assert!(feed.app.config.lease() >= Duration::from_secs((30 + 5 + 15) * 5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_31_two_workers_never_work_on_one_entity() {
    let actors: Vec<(i64, &str)> = (1..=30).map(|id| (id, "1 min")).collect();
    let feed = std::sync::Arc::new(feed_of(&actors, &[], json!({}), &[]).await);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let feed = feed.clone();
        tasks.spawn(async move {
            let mut worker = feed.app.worker().await.unwrap();
            let mut mine = Vec::new();
            while let Some(leased) =
                pool::lease(&mut worker.conn, &feed.app.config, Kind::Actor, Pool::New).await.unwrap()
            {
                mine.push(leased.id);
            }
            mine
        });
    }
    let mut all = tasks.join_all().await.concat();
    all.sort_unstable();
    assert_eq!(all, (1..=30).collect::<Vec<i64>>());
}

#[tokio::test]
async fn statement_31_a_late_outcome_is_thrown_away() {
    let feed = feed_of(&[(1, "1 min")], &[], json!({}), &[]).await;
    let conn = &mut feed.db.connect().await;
    let late = pool::lease(conn, &feed.app.config, Kind::Actor, Pool::New).await.unwrap().unwrap();
    feed.later("1 day").await;
    feed.execute("UPDATE pushfeed.entity SET last_seen_at = now()").await;
    let taken = pool::lease(conn, &feed.app.config, Kind::Actor, Pool::New).await.unwrap().unwrap();
    let complete = Outcome::Complete("{\"id\": 1}".to_owned());
    for outcome in [
        &complete,
        &Outcome::Permanent("x".to_owned()),
        &Outcome::Retryable("x".to_owned(), Duration::ZERO),
        &Outcome::Delayed(Duration::ZERO),
        &Outcome::Restored,
    ] {
        assert!(!pool::write(conn, Kind::Actor, &late, outcome).await.unwrap(), "{outcome:?}");
    }
    assert!(pool::write(conn, Kind::Actor, &taken, &complete).await.unwrap());
}

#[tokio::test]
async fn statement_32_what_an_answer_makes_of_an_entity() {
    let answers = json!({
        "/user/1": document(1), "/user/2": [{"status": 410}], "/user/3": [{"status": 451}], "/user/4": document(77),
        "/user/5": [{"status": 200, "text": "<html>"}], "/user/6": [{"status": 200, "body": {"login": "a"}}], "/user/7": [{"status": 503}], "/user/8": [{"status": 401}],
    });
    let actors: Vec<(i64, &str)> = (1..=8).map(|id| (id, "1 min")).collect();
    let feed = feed_of(&actors, &[], answers, &[("MAX_HTTP_RETRIES", "1")]).await;
    for _ in 0..8 {
        feed.enrich().await;
    }
    let rows = "SELECT concat_ws(' ', id, state, attempts, last_error) FROM pushfeed.entity ORDER BY id";
    let expected = [
        "1 complete 0",
        "2 permanent_failure 1 GitHub answered 410",
        "3 permanent_failure 1 GitHub answered 451",
        "4 permanent_failure 1 wrong document: its id is 77",
        "5 permanent_failure 1 malformed document: not JSON at byte 0: expected a value",
        "6 permanent_failure 1 malformed document: it has no id",
        "7 retryable_failure 1 GitHub answered 503",
        "8 retryable_failure 1 GitHub answered 401",
    ];
    assert_eq!(feed.column(rows).await, expected);
    assert_eq!(
        feed.value("SELECT used FROM fairgate.budget_use WHERE member = 'actor'").await,
        "9",
        "the 503 was tried twice"
    );
    let wait = "SELECT next_retry_at - now() BETWEEN interval '55 s' AND interval '60 s' FROM pushfeed.entity WHERE id = 7";
    assert_eq!(feed.value(wait).await, "true");
    feed.later("61 seconds").await;
    feed.enrich().await;
    feed.enrich().await;
    let doubled = "SELECT attempts || ' ' || (next_retry_at - now() BETWEEN interval '115 s' AND interval '120 s') FROM pushfeed.entity WHERE id = 7";
    assert_eq!(feed.value(doubled).await, "2 true");
    assert_eq!(feed.value("SELECT out_of_service FROM pushfeed.source").await, "null");
}

#[tokio::test]
async fn statement_32_a_complete_row_stays_complete_through_a_failure_and_keeps_its_document_for_good() {
    let answers = json!({"/user/1": [document(1)[0], {"status": 500}, {"status": 404}]});
    let feed = feed_of(&[(1, "1 min")], &[], answers, &[("MAX_HTTP_RETRIES", "0")]).await;
    feed.enrich().await;
    feed.later("25 hours").await;
    feed.execute("DELETE FROM fairgate.budget").await;
    tell(&feed).await;
    assert!(matches!(feed.enrich().await, Cycle::Failed(..)));
    let row = "SELECT concat_ws(' ', state, attempts, document::jsonb ->> 'id', fetched_at < now() - interval '1 d') FROM pushfeed.entity";
    assert_eq!(feed.value(row).await, "complete 1 1 t");
    feed.later("61 seconds").await;
    assert!(matches!(feed.enrich().await, Cycle::Failed(..)));
    assert_eq!(feed.value(row).await, "permanent_failure 2 1 t");
}

#[tokio::test]
async fn statement_32_a_primary_limit_writes_nothing_on_the_entity_and_a_secondary_one_only_its_time() {
    let spent = json!([{"status": 403, "headers": {"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "+3600"}}]);
    let feed = feed_of(&[(1, "1 min")], &[], json!({"/user/1": spent}), &[]).await;
    let rows = "SELECT e::text FROM pushfeed.entity e";
    let before = feed.column(rows).await;
    assert!(matches!(feed.enrich().await, Cycle::Limited));
    assert_eq!(feed.column(rows).await, before);
    let pause = json!([{"status": 429, "headers": {"retry-after": "90"}}]);
    let feed = feed_of(&[(1, "1 min")], &[], json!({"/user/1": pause}), &[]).await;
    let without = "SELECT to_jsonb(e) - 'next_retry_at' FROM pushfeed.entity e";
    let before = feed.column(without).await;
    assert!(matches!(feed.enrich().await, Cycle::Limited));
    assert_eq!(feed.column(without).await, before);
    let wait =
        "SELECT next_retry_at - now() BETWEEN interval '85 s' AND interval '90 s' FROM pushfeed.entity";
    assert_eq!(feed.value(wait).await, "true");
    assert!(matches!(feed.enrich().await, Cycle::Nothing), "and everything is blocked");
}

#[tokio::test]
async fn statement_34_a_due_candidate_is_claimable_up_to_the_age_and_ageable_past_it() {
    let feed = feed_of(&[(1, "1 min"), (2, "1 min")], &[], json!({}), &[]).await;
    feed.execute("UPDATE pushfeed.entity SET last_seen_at = CASE id WHEN 1 THEN now() - interval '3590 s' ELSE now() - interval '3601 s' END").await;
    let mut worker = feed.app.worker().await.unwrap();
    let census = pool::census(&mut worker.conn, &feed.app.config).await.unwrap();
    assert!(census[0].new);
    assert_eq!(pool::age_out(&mut worker.conn, &feed.app.config).await.unwrap(), 1);
    assert_eq!(feed.column(states()).await, ["actor 1 pending", "actor 2 skipped_budget"]);
    // The boundary itself, at one instant.
    let both = "SELECT count(*) FROM (SELECT now() - interval '1 h' AS seen UNION SELECT now() - interval '3600.000001 s') x
                 WHERE (seen >= now() - interval '1 h') = (seen < now() - interval '1 h')";
    assert_eq!(feed.value(both).await, "0");
}

#[tokio::test]
async fn statement_34_a_sweep_takes_a_thousand_most_overdue_first_and_runs_without_budget() {
    let feed = Feed::answering(&json!({}), &[]).await;
    feed.execute(
        "INSERT INTO pushfeed.entity (kind, id, login, created_at, last_seen_at)
         SELECT 'actor', n, 'a', now() - interval '1 d', CASE WHEN n % 2 = 0 THEN now() - interval '2 h' - n * interval '1 s' END FROM generate_series(1, 1500) n",
    )
    .await;
    assert!(matches!(feed.enrich().await, Cycle::Nothing));
    let left = "SELECT count(*) || ' ' || max(id) FROM pushfeed.entity WHERE state = 'pending'";
    assert_eq!(feed.value(left).await, "500 1000", "those never seen are of the day before, and went first");
}

#[tokio::test]
async fn statement_36_the_next_enrichment_covers_refreshes_retries_and_blocks() {
    let feed = feed_of(&[(1, "1 min")], &[(2, "1 min")], json!({}), &[]).await;
    let next = async || {
        let mut conn = feed.db.connect().await;
        let (ledger, now) = feed.app.budget.read(&mut conn, None).await.unwrap();
        (summary::next(&mut conn, &feed.app.config, &ledger, now).await.unwrap(), now)
    };
    let in_about = async |expected: i64| match next().await {
        (Next::At(at), now) => {
            assert!((at - now).num_seconds().abs_diff(expected) <= 2, "{} is not {expected}", at - now);
        }
        (other, _) => panic!("{other:?} is not in {expected} s"),
    };
    assert_eq!(next().await.0, Next::Now);
    feed.execute("UPDATE fairgate.budget_use SET used = 20; INSERT INTO fairgate.budget_use VALUES ('github-core', 'enrichment', 'actor', 20), ('github-core', 'enrichment', 'repository', 0)").await;
    assert_eq!(next().await.0, Next::Now, "a share that is spent delays nothing");
    feed.execute("UPDATE pushfeed.entity SET next_retry_at = now() + interval '5 min' WHERE id = 1; UPDATE pushfeed.entity SET next_retry_at = now() + interval '9 min' WHERE id = 2").await;
    in_about(300).await;
    feed.execute("UPDATE fairgate.budget SET blocked_until = now() + interval '20 min', block_reason = 'secondary_limit'").await;
    in_about(1200).await;
    feed.execute("UPDATE fairgate.budget SET blocked_until = NULL, block_reason = NULL; UPDATE fairgate.budget_use SET used = 20 WHERE member <> ''").await;
    in_about(3601).await;
    feed.execute("UPDATE fairgate.budget_use SET used = 0").await;
    feed.execute("UPDATE pushfeed.entity SET state = 'complete', document = '{}', fetched_at = now() - interval '1 h', next_retry_at = NULL").await;
    in_about(23 * 3600).await;
    feed.execute("UPDATE pushfeed.entity SET next_retry_at = now() + interval '2 d' WHERE id = 1; UPDATE pushfeed.entity SET fetched_at = now() WHERE id = 2").await;
    in_about(24 * 3600).await;
    feed.execute("UPDATE pushfeed.entity SET state = 'permanent_failure'").await;
    assert_eq!(next().await.0, Next::Never);
}
