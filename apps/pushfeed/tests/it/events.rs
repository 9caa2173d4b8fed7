//! Statements 9-14: what becomes of events.

use pushfeed::ingest::event::{Event, Shape, read};
use pushfeed::json;
use serde_json::{Value, json};

use crate::support::{Feed, ran};

const FIRST: &str = "/events?per_page=100";

fn push(id: u64, changes: &[(&str, Value)]) -> Value {
    let mut event = json!({
        "id": id.to_string(), "type": "PushEvent", "public": true, "created_at": "2026-01-01T00:00:00Z",
        "actor": {"id": 1, "login": "a", "url": "https://api.github.com/users/a"},
        "repo": {"id": 2, "name": "a/r", "url": "https://api.github.com/repos/a/r"},
        "payload": {"repository_id": 2, "push_id": 3, "ref": "refs/heads/x", "head": "a".repeat(40), "before": "b".repeat(40)},
    });
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        event.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    event
}

async fn feed_of(pages: &[Value]) -> Feed {
    let pages: Vec<Value> = pages.iter().map(|page| json!({"status": 200, "body": page})).collect();
    Feed::answering(&json!({ FIRST: pages }), &[]).await
}

fn code(event: &Value) -> &'static str {
    match read(&event.to_string(), Shape::Live) {
        Event::Push(_) => "accepted",
        Event::Other => "ignored",
        Event::Bad(bad) => bad.code,
    }
}

#[test]
fn statement_10_each_fault_has_its_lasting_code() {
    for (pointer, value, expected) in [
        ("/type", json!("PushEvent"), "accepted"),
        ("/type", json!("WatchEvent"), "ignored"),
        ("/type", json!(7), "bad_envelope"),
        ("/type", json!(null), "bad_envelope"),
        ("/actor", json!(null), "missing_field"),
        ("/actor/login", json!(null), "wrong_type"),
        ("/actor/login", json!(""), "missing_field"),
        ("/actor/id", json!("x"), "wrong_type"),
        ("/actor/id", json!("9223372036854775808"), "id_out_of_range"),
        ("/actor/id", json!(9_223_372_036_854_775_807_u64), "accepted"),
        ("/repo/id", json!(1.5), "wrong_type"),
        ("/id", json!("99999999999999999999"), "id_out_of_range"),
        ("/id", json!(7), "accepted"),
        ("/created_at", json!("yesterday"), "wrong_type"),
        ("/payload/repository_id", json!(9), "repository_mismatch"),
        ("/payload/repository_id", json!(null), "missing_field"),
        ("/payload/head", json!("xyz"), "bad_sha"),
        ("/payload/head", json!("A".repeat(64)), "accepted"),
        ("/payload/head", json!("a".repeat(41)), "bad_sha"),
        ("/payload/before", json!("g".repeat(40)), "bad_sha"),
        ("/payload/before", json!("0".repeat(40)), "accepted"),
        ("/payload/ref", json!(["x"]), "wrong_type"),
        ("/payload/ref", json!("nul\u{0}"), "unstorable_text"),
        ("/payload/ref", json!("n".repeat(300)), "accepted"),
        ("/payload/anything", json!({"new": [1, null]}), "accepted"),
        ("/actor/avatar_url", json!(null), "accepted"),
        ("/public", json!(false), "accepted"),
    ] {
        assert_eq!(code(&push(5, &[(pointer, value.clone())])), expected, "{pointer} = {value}");
    }
    for envelope in ["7", "null", "[]", "\"x\"", "{}"] {
        assert!(
            matches!(read(envelope, Shape::Live), Event::Bad(bad) if bad.code == "bad_envelope"),
            "{envelope}"
        );
    }
    let half = push(5, &[]).to_string().replace("\"a\",\"url", "\"\\ud83d\",\"url");
    assert!(half.contains("\\ud83d"));
    assert!(matches!(read(&half, Shape::Live), Event::Bad(bad) if bad.code == "unstorable_text"));
}

#[test]
fn statement_10_identity_is_of_the_canonical_form() {
    let canonical = |text: &str| String::from_utf8(json::parse(text).unwrap().canonical()).unwrap();
    assert_eq!(
        canonical(r#" { "b" : [2, 1] , "a":{"d":1,"c":null} }"#),
        r#"{"a":{"c":null,"d":1},"b":[2,1]}"#
    );
    assert_eq!(canonical("123456789012345678901234567890"), "123456789012345678901234567890");
    assert_eq!(canonical(r#""\u00e9\/\ud83d\ude00\u0000""#), "\"é/😀\\u0000\"");
    assert_eq!(canonical(r#""\uD83D x""#), r#""\ud83d x""#);
    assert_eq!(canonical(r#"{"a":1,"a":2}"#), r#"{"a":2}"#);
    assert_ne!(canonical("[9007199254740993]"), canonical("[9007199254740992]"));
    for broken in
        ["", "{", "[1,]", "01", "1.", "\"\u{1}\"", "\"\\x\"", "nul", "[1] 2", "{\"a\"}", "\"\\u12\""]
    {
        assert!(json::parse(broken).is_err(), "{broken}");
    }
    assert!(json::parse(&"[".repeat(5000)).is_err(), "nesting is bounded");
}

#[tokio::test]
async fn statement_9_redelivery_changes_nothing_and_the_raw_event_is_kept() {
    let event = push(5, &[("/payload/later", json!({"kept": true}))]);
    let feed = feed_of(&[json!([event]), json!([event])]).await;
    assert_eq!(feed.polled().await.created, 1);
    let before = feed.column("SELECT e::text || e.xmin FROM pushfeed.push_event e").await;
    assert_eq!(ran(feed.force().await).duplicates, 1);
    assert_eq!(feed.column("SELECT e::text || e.xmin FROM pushfeed.push_event e").await, before);
    assert_eq!(feed.value("SELECT raw FROM pushfeed.push_event").await, event.to_string());
}

#[tokio::test]
async fn statement_9_an_event_that_the_database_refuses_harms_no_neighbour() {
    let feed = feed_of(&[json!([push(5, &[]), push(6, &[]), push(7, &[])])]).await;
    feed.execute("ALTER TABLE pushfeed.push_event ADD CHECK (github_id <> 6)").await;
    let counts = feed.polled().await;
    assert_eq!((counts.created, counts.failed), (2, 1));
    assert_eq!(feed.column("SELECT github_id FROM pushfeed.push_event ORDER BY 1").await, ["5", "7"]);
}

#[tokio::test]
async fn statement_10_a_repeated_bad_event_is_counted_and_two_bodies_of_one_id_are_two() {
    let bad = push(5, &[("/payload/head", json!("x"))]);
    let other = push(5, &[("/payload/head", json!("y"))]);
    let feed = feed_of(&[json!([bad, other, bad]), json!([bad])]).await;
    assert_eq!(feed.polled().await.quarantined, 3);
    feed.later("1 hour").await;
    let first = feed
        .value(
            "SELECT first_received_at FROM pushfeed.quarantined_event ORDER BY occurrence_count DESC LIMIT 1",
        )
        .await;
    ran(feed.force().await);
    assert_eq!(
        feed.column("SELECT occurrence_count FROM pushfeed.quarantined_event ORDER BY 1").await,
        ["1", "3"]
    );
    let kept =
        "SELECT first_received_at FROM pushfeed.quarantined_event WHERE last_received_at > first_received_at";
    assert_eq!(feed.column(kept).await, [first]);
}

#[tokio::test]
async fn statement_11_the_same_id_at_another_time_is_another_event_and_with_other_bytes_a_duplicate() {
    let again = push(5, &[("/created_at", json!("2026-02-01T00:00:00Z"))]);
    let bytes = push(5, &[("/payload/extra", json!(1)), ("/actor/login", json!("renamed"))]);
    let feed = feed_of(&[json!([push(5, &[]), again, bytes])]).await;
    let counts = feed.polled().await;
    assert_eq!((counts.created, counts.duplicates), (2, 1));
    assert_eq!(
        feed.value("SELECT count(DISTINCT id) FROM pushfeed.push_event WHERE github_id = 5").await,
        "2"
    );
}

#[tokio::test]
async fn statement_13_stubs_take_their_fields_from_the_event() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    let actor = "SELECT concat_ws(' ', login, display_login, api_url, avatar_url) FROM pushfeed.actors WHERE id = 910002";
    assert_eq!(
        feed.value(actor).await,
        "dock-helper[bot] dock-helper https://api.github.com/users/dock-helper%5Bbot%5D https://avatars.githubusercontent.com/u/910002?"
    );
    let repository =
        "SELECT concat_ws(' ', full_name, name, api_url) FROM pushfeed.repositories WHERE id = 920001";
    assert_eq!(
        feed.value(repository).await,
        "marta-lund/tide-tables tide-tables https://api.github.com/repos/marta-lund/tide-tables"
    );
}

#[tokio::test]
async fn statement_13_a_duplicate_refreshes_names_and_nothing_else() {
    let renamed = push(5, &[("/actor/login", json!("renamed"))]);
    let fresh = push(6, &[("/created_at", json!("2026-03-01T00:00:00Z"))]);
    let feed = feed_of(&[json!([push(5, &[])]), json!([renamed]), json!([fresh])]).await;
    feed.polled().await;
    feed.execute("UPDATE pushfeed.entity SET state = 'skipped_budget' WHERE kind = 'repository'").await;
    feed.execute("UPDATE pushfeed.entity SET state = 'complete', document = '{\"id\": 1}', fetched_at = now() WHERE kind = 'actor'").await;
    feed.later("1 hour").await;
    let activity = "SELECT concat_ws(' ', kind, state, document, fetched_at, first_seen_at, last_seen_at, latest_event_at) FROM pushfeed.entity ORDER BY kind";
    let before = feed.column(activity).await;
    assert_eq!(ran(feed.force().await).reactivated, 0);
    assert_eq!(feed.column(activity).await, before);
    assert_eq!(feed.value("SELECT login FROM pushfeed.actors").await, "renamed");
    assert_eq!(ran(feed.force().await).reactivated, 1, "a new event, and its row count is reported");
    assert_eq!(feed.value("SELECT state FROM pushfeed.repositories").await, "pending");
    let moved = "SELECT latest_event_at = '2026-03-01Z' AND last_seen_at > now() - interval '1 min' AND first_seen_at < now() - interval '59 min' FROM pushfeed.actors";
    assert_eq!(feed.value(moved).await, "true");
    assert_eq!(feed.value("SELECT state FROM pushfeed.actors").await, "complete");
}

#[tokio::test]
async fn statement_14_strange_events_are_stored_or_quarantined_and_no_page_is_lost() {
    let feed = Feed::of("strange").await;
    let counts = feed.polled().await;
    assert_eq!((counts.seen, counts.created, counts.quarantined, counts.failed), (16, 7, 9, 0));
    let codes = "SELECT code || ' ' || sum(occurrence_count) FROM pushfeed.quarantined_event GROUP BY code ORDER BY 1";
    assert_eq!(
        feed.column(codes).await,
        ["bad_envelope 5", "id_out_of_range 1", "missing_field 1", "unstorable_text 2"]
    );
    assert_eq!(
        feed.value(
            "SELECT raw::text LIKE '%\\\\u0000%' FROM pushfeed.push_event WHERE github_id = 61000000027"
        )
        .await,
        "true"
    );
    assert_eq!(
        feed.value("SELECT public FROM pushfeed.push_event WHERE github_id = 61000000024").await,
        "false"
    );
}
