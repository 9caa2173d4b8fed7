//! Statement 14: files of GH Archive.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::support::Feed;

const VINTAGES: &str = include_str!("../fixtures/github/push-events-by-vintage.ndjson");

fn pack(folder: &Path, name: &str, lines: &str) -> PathBuf {
    let path = folder.join(name);
    let mut packed = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
    packed.write_all(lines.as_bytes()).unwrap();
    packed.finish().unwrap();
    path
}

/// Push events of 2012-2025, one a line.
fn vintages() -> String {
    let event = |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].to_string() + "\n";
    VINTAGES.lines().map(event).collect()
}

fn import(feed: &Feed, files: &[&Path]) -> crate::support::Ran {
    let files = files.iter().map(|file| file.to_str().unwrap());
    let arguments: Vec<&str> = ["ingest", "--source", "gharchive"].into_iter().chain(files).collect();
    feed.run(&arguments)
}

#[tokio::test]
async fn statement_14_archived_events_of_every_vintage_are_imported_and_asked_of_nobody() {
    let feed = Feed::of("default").await;
    let folder = tempfile::tempdir().unwrap();
    let strange = "{\"type\":\"WatchEvent\"}\n{\"type\":\"PushEvent\"}\nnot json\n\u{fffd}\n";
    let file = pack(folder.path(), "2015-01-01-0.json.gz", &(vintages() + strange));
    let ran = import(&feed, &[&file]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(
        (
            ran.label("Events seen"),
            ran.label("Events quarantined"),
            ran.label("Non-push events ignored"),
            ran.label("Events failed")
        ),
        ("266", "1", "1", "2")
    );
    let distinct = "SELECT count(*) FROM pushfeed.push_event";
    assert_eq!(ran.label("Push events created"), feed.value(distinct).await);
    assert_eq!(feed.value("SELECT count(*) FROM pushfeed.run").await, "0", "no run");
    assert_eq!(feed.value("SELECT count(*) FROM fairgate.budget").await, "0", "no debit");
    assert_eq!(feed.column("SELECT DISTINCT state FROM pushfeed.entity").await, ["skipped_budget"]);
    // A file that was read is passed over.
    let again = import(&feed, &[&file]);
    assert_eq!(again.stdout.lines().next().unwrap(), "Imported 0 files, 1 were there");
    assert_eq!(again.label("Events seen"), "0");
}

#[tokio::test]
async fn statement_14_an_import_that_was_cut_off_goes_on_where_it_was() {
    let feed = Feed::of("default").await;
    let folder = tempfile::tempdir().unwrap();
    let event = |n: u64| {
        format!(
            "{{\"id\":\"{n}\",\"type\":\"PushEvent\",\"actor\":{{\"id\":1,\"login\":\"a\"}},\"repo\":{{\"id\":2,\"name\":\"a/r\"}},\"payload\":{{\"push_id\":3,\"ref\":\"x\",\"head\":\"{0}\"}},\"created_at\":\"2015-01-01T00:00:00Z\"}}\n",
            "a".repeat(40)
        )
    };
    let lines: String = (1..=9_000).map(event).collect();
    let whole = pack(folder.path(), "2015-01-01-1.json.gz", &lines);
    // The same file, of which a part is missing at its end.
    let bytes = std::fs::read(&whole).unwrap();
    let size = i64::try_from(bytes.len()).unwrap();
    let cut = folder.path().join("cut").join("2015-01-01-1.json.gz");
    std::fs::create_dir(cut.parent().unwrap()).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() * 3 / 4]).unwrap();
    let ran = import(&feed, &[&cut]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let kept: i64 = feed
        .value("SELECT lines FROM pushfeed.archive_file WHERE finished_at IS NULL")
        .await
        .parse()
        .unwrap();
    assert!((4_000..9_000).contains(&kept), "{kept}");
    feed.execute(&format!("UPDATE pushfeed.archive_file SET bytes = {size}")).await;
    let rest = import(&feed, &[&whole]);
    assert_eq!(rest.label("Push events created"), (9_000 - kept).to_string());
    assert_eq!(rest.label("Duplicates skipped"), "0", "nothing was read twice");
    assert_eq!(feed.value("SELECT count(*) FROM pushfeed.push_event").await, "9000");
}

#[tokio::test]
async fn statement_14_what_the_feed_knows_is_left_alone_and_what_the_archive_brought_is_reactivated_by_the_feed()
 {
    let feed = Feed::of("default").await;
    let folder = tempfile::tempdir().unwrap();
    let default: Value = serde_json::from_str(include_str!("../../fixtures/default.json")).unwrap();
    let mut old = default["answers"]["/events?per_page=100"][0]["body"][0].clone();
    old["created_at"] = "2015-01-01T00:00:00Z".into();
    old["actor"]["login"] = "an-old-name".into();
    let file = pack(folder.path(), "2015-01-01-2.json.gz", &(old.to_string() + "\n"));
    import(&feed, &[&file]);
    let states = "SELECT string_agg(state, ' ') FROM pushfeed.entity WHERE id IN (910001, 920001)";
    assert_eq!(feed.value(states).await, "skipped_budget skipped_budget");
    assert_eq!(feed.polled().await.reactivated, 2);
    assert_eq!(feed.value(states).await, "pending pending");
    assert_eq!(feed.value("SELECT login FROM pushfeed.actors WHERE id = 910001").await, "marta-lund");
    assert_eq!(
        feed.value("SELECT count(*) FROM pushfeed.push_event WHERE github_id = 61000000001").await,
        "2",
        "the id was used again"
    );
}

#[tokio::test]
async fn statement_39_files_need_their_source() {
    let feed = Feed::of("default").await;
    assert_eq!(feed.run(&["ingest", "--source", "gharchive"]).code, 2);
    assert_eq!(feed.run(&["ingest", "some.json.gz"]).code, 2);
    let ran = feed.run(&["ingest", "--source", "gharchive", "no-such.json.gz"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("reading no-such.json.gz: No such file"), "{}", ran.stderr);
}
