//! Statement 42: one line for each change of state, and no secrets.

use serde_json::{Value, json};

use crate::live::good;
use crate::mock::Mock;
use crate::support::{Feed, Ran};

/// The messages of a run.
fn messages(ran: &Ran) -> Vec<String> {
    let line =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["message"].as_str().unwrap().to_owned();
    ran.stderr.lines().map(line).collect()
}

#[tokio::test]
async fn statement_42_a_block_is_told_when_it_is_set_and_when_something_is_sent_again() {
    let feed = Feed::of("primary_limit").await;
    assert_eq!(
        messages(&feed.run(&["ingest"])),
        ["budget window initialized", "global block set", "poll failed"]
    );
    assert_eq!(messages(&feed.run(&["ingest", "--force"])), [""; 0], "not again");
    feed.later("2 hours").await;
    let after = messages(&feed.run(&["ingest"]));
    assert_eq!(
        after,
        [
            "global block cleared",
            "budget window rolled",
            "budget window initialized",
            "global block set",
            "poll failed"
        ]
    );
}

#[tokio::test]
async fn statement_42_a_share_and_a_class_are_told_once_when_they_are_spent() {
    let feed = Feed::with(&[("RATE_LIMIT_RESERVE", "46")]).await;
    feed.run(&["ingest"]);
    // Two requests, one for each kind, and then borrowing is of no use.
    let ran = feed.run(&["enrich", "--limit", "6"]);
    let told: Vec<String> =
        messages(&ran).into_iter().filter(|message| message.starts_with("budget")).collect();
    assert_eq!(told, ["budget share exhausted", "budget class exhausted", "budget share exhausted"]);
    assert!(ran.stdout.starts_with("Deferred: class_exhausted until "), "{}", ran.stdout);
    assert_eq!(messages(&feed.run(&["enrich"])), [""; 0]);
}

#[tokio::test]
async fn statement_42_a_lost_lease_is_a_warning() {
    let feed = Feed::of("default").await;
    feed.run(&["ingest"]);
    // Somebody takes the entity over while its request is on its way.
    feed.execute(
        "CREATE FUNCTION public.steal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             UPDATE pushfeed.entity SET next_retry_at = next_retry_at + interval '1 s' WHERE next_retry_at > now(); RETURN NULL; END $$;
         CREATE TRIGGER steal AFTER UPDATE ON fairgate.budget_use FOR EACH STATEMENT EXECUTE FUNCTION public.steal()",
    )
    .await;
    let ran = feed.run(&["enrich"]);
    assert_eq!(ran.code, 0);
    let lost: Value = ran
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|line: &Value| line["message"] == "lease_lost")
        .unwrap();
    assert_eq!(lost["level"], "WARN");
    assert!(lost["span"]["run_id"].is_string());
    assert_eq!(ran.label("Entities enriched"), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_26_tokens_and_42_bodies_never_appear_in_logs_errors_or_the_database() {
    let mock = Mock::start(|asked, _| async move {
        if asked.path.starts_with("/users") {
            crate::mock::whole(403, 50, &[], "{\"message\": \"words-of-a-body\"}")
        } else {
            good(&asked.path)
        }
    })
    .await;
    let address = mock.address.to_string();
    let settings = [
        ("GITHUB_MODE", "live"),
        ("GITHUB_CONNECT_TO", address.as_str()),
        ("GITHUB_TOKEN", "ghp_verysecret"),
        ("LOG_LEVEL", "trace,sqlx=trace,hyper=trace"),
    ];
    let feed = Feed::of("default").await;
    let mut said = String::new();
    for arguments in [&["ingest"][..], &["enrich", "--limit", "3"], &["status"], &["status", "--json"]] {
        let ran = tokio::task::block_in_place(|| feed.run_with(arguments, &settings));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        said += &(ran.stdout + &ran.stderr);
    }
    said += &feed.everything().await.concat();
    assert!(!said.contains("ghp_verysecret"));
    assert!(!said.contains("words-of-a-body"), "{said}");
    assert_eq!(json!(mock.asked().len()), json!(3));
}
