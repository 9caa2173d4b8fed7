//! Statements 37 and 38: addresses in payloads, links and redirects, with files in GitHub's place.

use pushfeed::enrich::Cycle;
use serde_json::json;

use crate::support::Feed;

#[tokio::test]
async fn statement_37_hostile_redirects_are_not_followed() {
    let feed = Feed::of("hostile_redirect").await;
    feed.polled().await;
    for _ in 0..6 {
        feed.enrich().await;
    }
    let errors = "SELECT DISTINCT last_error FROM pushfeed.entity WHERE last_error LIKE 'refused redirect%' ORDER BY 1";
    let why = [
        "refused redirect: the address does not begin with https://",
        "refused redirect: the address has user information",
        "refused redirect: the address is not of host api.github.com",
    ];
    assert_eq!(feed.column(errors).await, why);
    // The hop that was refused cost nothing.
    assert_eq!(feed.value("SELECT sum(used) FROM fairgate.budget_use WHERE class = 'enrichment'").await, "6");
}

#[tokio::test]
async fn statement_37_an_address_of_a_payload_is_refused_before_any_debit() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    feed.execute("UPDATE pushfeed.entity SET api_url = 'https://example.org/users/' || id").await;
    assert!(
        matches!(feed.enrich().await, Cycle::Failed(_, why) if why == "refused address: the address is not of host api.github.com")
    );
    assert_eq!(feed.value("SELECT sum(used) FROM fairgate.budget_use WHERE class = 'enrichment'").await, "0");
    assert_eq!(
        feed.value("SELECT out_of_service FROM pushfeed.source").await,
        "null",
        "the source is untouched"
    );
}

#[tokio::test]
async fn statement_38_an_address_that_no_file_answers_is_an_error_and_no_request() {
    let feed = Feed::answering(&json!({}), &[("MAX_HTTP_RETRIES", "0")]).await;
    let ran = feed.run(&["ingest"]);
    assert_eq!(ran.code, 1);
    let said =
        "Failed: no fixture answers https://api.github.com/events?per_page=100; add it to the scenario";
    assert_eq!(ran.stdout.lines().next().unwrap(), said);
}

#[tokio::test]
async fn statement_38_an_unknown_scenario_is_refused_with_those_that_there_are() {
    let feed = Feed::of("default").await;
    let ran = feed.run_with(&["ingest"], &[("GITHUB_FIXTURE_SCENARIO", "no_such")]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("there is no scenario \"no_such\"; there are default, not_modified"),
        "{}",
        ran.stderr
    );
}
