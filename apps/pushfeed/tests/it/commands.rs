//! Statements 39 and 40: what the commands print, on a fresh database.

use crate::support::{Feed, Ran};

/// The labels of a block, in order, after the one-line answer.
fn labels(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().skip(1).map(|line| line.split_once(": ").unwrap().0).collect()
}

fn values(ran: &Ran, labels: &[&str]) -> Vec<String> {
    labels.iter().map(|label| ran.label(label).to_owned()).collect()
}

const COUNTS: [&str; 7] = [
    "Pages fetched",
    "Events seen",
    "Push events created",
    "Duplicates skipped",
    "Events quarantined",
    "Non-push events ignored",
    "Events failed",
];

#[tokio::test]
async fn statement_40_the_numbers_of_the_fixture_run() {
    let feed = Feed::of("default").await;
    let ingest = feed.run(&["ingest"]);
    assert_eq!((ingest.code, ingest.stdout.lines().next().unwrap()), (0, "Polled"));
    assert_eq!(values(&ingest, &COUNTS), ["1", "8", "4", "0", "3", "1", "0"]);
    let more = [
        "Persisted push events",
        "Pending actor enrichments",
        "Pending repository enrichments",
        "Budget remaining (core)",
        "Global block",
    ];
    assert_eq!(values(&ingest, &more), ["4", "3", "3", "59", "none"]);
    let enrich = feed.run(&["enrich", "--limit", "6"]);
    assert_eq!(enrich.code, 0);
    let of_enrich = [
        "Enrichment cycles",
        "Entities enriched",
        "Entities failed",
        "Actors pending/complete/skipped",
        "Repos pending/complete/skipped",
        "Actor requests used",
        "Repository requests used",
    ];
    assert_eq!(values(&enrich, &of_enrich), ["6", "4", "2", "0/2/0", "0/2/0", "3 of 20", "3 of 20"]);
    assert_eq!(feed.run(&["status"]).label("Source"), "idle, enabled");
    // A forced replay after the floor.
    feed.later("61 seconds").await;
    let replay = feed.run(&["ingest", "--force"]);
    assert_eq!(values(&replay, &COUNTS), ["1", "8", "0", "4", "3", "1", "0"]);
    assert_eq!(values(&replay, &more[..3]), ["4", "0", "0"]);
    assert_eq!(feed.value("SELECT sum(reactivated) FROM pushfeed.run").await, "0");
    assert_eq!(feed.value("SELECT sum(occurrence_count) FROM pushfeed.quarantined_event").await, "6");
}

#[tokio::test]
async fn statement_40_three_pages_and_a_smaller_enrichment() {
    let feed = Feed::with(&[("MAX_PAGES_PER_POLL", "3")]).await;
    let ingest = feed.run(&["ingest"]);
    assert_eq!(values(&ingest, &COUNTS), ["3", "11", "6", "1", "3", "1", "0"]);
    let status = feed.run(&["status"]);
    assert_eq!(status.label("Enrichment requests used"), "0 of 16");
    assert_eq!(status.label("Poll requests used"), "3 of 36");
}

#[tokio::test]
async fn statement_39_labels_come_in_their_order_on_every_path() {
    let feed = Feed::of("default").await;
    let ingest = [
        &COUNTS[..],
        &[
            "Latest successful run",
            "Persisted push events",
            "Pending actor enrichments",
            "Pending repository enrichments",
            "Next poll due",
            "Budget remaining (core)",
            "Global block",
        ],
    ]
    .concat();
    let enrich = [
        "Enrichment cycles",
        "Entities enriched",
        "Entities failed",
        "Actors pending/complete/skipped",
        "Repos pending/complete/skipped",
        "Actor requests used",
        "Repository requests used",
        "Next enrichment",
    ];
    assert_eq!(labels(&feed.run(&["ingest"])), ingest, "done");
    assert_eq!(labels(&feed.run(&["ingest"])), ingest, "deferred");
    assert_eq!(labels(&feed.run(&["enrich"])), enrich, "done");
    feed.run(&["enrich", "--limit", "9"]);
    assert_eq!(labels(&feed.run(&["enrich"])), enrich, "nothing to do");
    let failed = Feed::of("server_error").await;
    let ran = failed.run(&["ingest"]);
    assert_eq!((ran.code, ran.stdout.lines().next().unwrap()), (1, "Failed: GitHub answered 502"));
    assert_eq!(labels(&ran), ingest, "failed");
}

#[tokio::test]
async fn statement_39_without_a_limit_one_cycle_and_with_a_class_only_that() {
    let feed = Feed::of("default").await;
    feed.run(&["ingest"]);
    assert_eq!(feed.run(&["enrich"]).label("Enrichment cycles"), "1");
    let actors = feed.run(&["enrich", "--class", "actor", "--limit", "9"]);
    assert_eq!(values(&actors, &["Actor requests used", "Enrichment cycles"]), ["3 of 20", "2"]);
    let repositories = feed.run(&["enrich", "--class", "repository", "--limit", "9"]);
    assert_eq!(repositories.label("Repository requests used"), "3 of 20");
}

#[tokio::test]
async fn statement_39_exit_codes() {
    let feed = Feed::of("default").await;
    for arguments in [
        &["ingest", "--page", "3"][..],
        &["enrich", "--limit", "0"],
        &["enrich", "--class", "team"],
        &["poll"],
        &[],
    ] {
        let ran = feed.run(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert_eq!(ran.stdout, "");
    }
    let refused = feed.run_with(&["ingest"], &[("RATE_LIMIT_RESERVE", "48")]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("leave nothing of the limit (60)"), "{}", refused.stderr);
    let unreachable = feed.run_with(&["status"], &[("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none")]);
    assert_eq!(unreachable.code, 1);
    assert!(unreachable.stderr.contains("is the server of DATABASE_URL running"), "{}", unreachable.stderr);
    assert_eq!(feed.run(&["ingest"]).code, 0);
    assert_eq!(feed.run(&["ingest"]).code, 0, "deferred");
}

#[tokio::test]
async fn statement_35_a_second_run_over_fresh_data_spends_nothing_and_says_so() {
    let feed = Feed::of("default").await;
    feed.run(&["ingest"]);
    feed.run(&["enrich", "--limit", "6"]);
    let again = feed.run(&["enrich", "--limit", "6"]);
    assert!(again.stdout.starts_with("Nothing to enrich: "), "{}", again.stdout);
    assert_eq!(values(&again, &["Enrichment cycles", "Actor requests used"]), ["0", "3 of 20"]);
}

#[tokio::test]
async fn statement_42_logs_are_json_lines_with_the_runs_id_on_stderr() {
    let feed = Feed::of("default").await;
    let ran = feed.run(&["ingest"]);
    let lines: Vec<serde_json::Value> =
        ran.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let messages: Vec<&str> = lines.iter().map(|line| line["message"].as_str().unwrap()).collect();
    assert_eq!(messages, ["budget window initialized", "poll completed"]);
    let run = feed.value("SELECT id FROM pushfeed.run").await;
    assert!(lines.iter().all(|line| line["span"]["run_id"] == run.as_str()));
    feed.execute("UPDATE pushfeed.entity SET last_seen_at = now() - interval '2 h'").await;
    let aged = feed.run(&["enrich"]);
    assert!(aged.stderr.contains("\"message\":\"entities aged out\",\"entities\":6"), "{}", aged.stderr);
}

#[tokio::test]
async fn statement_39_migrate_installs_all_and_may_be_repeated() {
    let db = fairgate_testkit::TestDb::bare().await;
    let feed = Feed::of("default").await;
    for _ in 0..2 {
        let ran = feed.run_with(&["migrate"], &[("DATABASE_URL", db.url())]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let schemas =
        "SELECT count(*) FROM pg_namespace WHERE nspname IN ('fairgate', 'pushfeed', 'pushfeed_queue')";
    let count: i64 = sqlx::query_scalar(schemas).fetch_one(db.pool()).await.unwrap();
    assert_eq!(count, 3);
    // A fresh database needs no migrate first.
    let fresh = fairgate_testkit::TestDb::bare().await;
    let ran = feed.run_with(&["ingest"], &[("DATABASE_URL", fresh.url())]);
    assert_eq!((ran.code, ran.label("Push events created")), (0, "4"), "{}", ran.stderr);
}
