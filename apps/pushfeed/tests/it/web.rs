//! Statement 41: pages and the API.

use std::sync::Arc;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use pushfeed::{App, Config, web};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::support::Feed;

/// The pages of a feed, over real HTTP.
struct Site {
    address: std::net::SocketAddr,
    _stop: tokio_util::sync::DropGuard,
}

impl Site {
    async fn of(feed: &Feed) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // Another program on the same database, which has no way to GitHub.
        let settings = [("DATABASE_URL", feed.db.url()), ("GITHUB_CONNECT_TO", "127.0.0.1:1")];
        let get =
            |name: &str| settings.iter().find(|(its, _)| *its == name).map(|(_, value)| (*value).to_owned());
        let app = App::new(Config::read(get).unwrap()).unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let router = web::router(Arc::new(app));
        tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(stopped).await });
        Self { address, _stop: stop.drop_guard() }
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
        let response = client.get(format!("http://{}{path}", self.address).parse().unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }
}

#[tokio::test]
async fn statement_41_unknown_is_shown_as_unknown() {
    let feed = Feed::of("default").await;
    let site = Site::of(&feed).await;
    let status = site.json("/status").await;
    for pointer in [
        "/budget/limit",
        "/budget/remaining",
        "/budget/reset_at",
        "/schedule/floor",
        "/actors/coverage",
        "/source/latest_successful_run",
    ] {
        assert_eq!(status.pointer(pointer), Some(&Value::Null), "{pointer}");
    }
    assert_eq!(status["actors"]["keeping_up"], "insufficient_sample");
    let (code, page) = site.get("/").await;
    assert_eq!(code, 200);
    assert!(page.contains("Left: unknown of unknown until the next poll"), "{page}");
}

#[tokio::test]
async fn statement_41_status_has_schedule_ledger_coverage_and_backlog() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    for _ in 0..6 {
        feed.enrich().await;
    }
    let site = Site::of(&feed).await;
    let status = site.json("/status").await;
    assert_eq!(status["budget"]["actor"], serde_json::json!({"used": 3, "of": 20}));
    assert_eq!(status["budget"]["poll"], serde_json::json!({"used": 1, "of": 12}));
    assert_eq!((&status["actors"]["covered"], &status["actors"]["seen"]), (&2.into(), &3.into()));
    assert!(status["schedule"]["cadence"].is_string() && status["schedule"]["backoff"].is_null());
    let (_, page) = site.get("/").await;
    assert!(page.contains("4 push events kept. Everything is running"), "{page}");
    assert!(page.contains("3 of 20"), "{page}");
    feed.execute("UPDATE pushfeed.source SET out_of_service = '<b>410</b>'").await;
    let (_, page) = site.get("/").await;
    assert!(page.contains("out of service until you act: &lt;b&gt;410&lt;/b&gt;"), "{page}");
}

#[tokio::test]
async fn statement_41_keeping_up_needs_a_sample() {
    let feed = Feed::of("default").await;
    let seen = |from: i64, to: i64, state: &str| {
        format!(
        "INSERT INTO pushfeed.entity (kind, id, login, state, document, fetched_at, created_at, first_seen_at, last_seen_at)
         SELECT 'actor', n, 'a', '{state}', '{{}}', now(), now(), now(), now() FROM generate_series({from}, {to}) n")
    };
    let site = Site::of(&feed).await;
    let keeping_up = async || site.json("/status").await["actors"]["keeping_up"].clone();
    feed.execute(&seen(1, 9, "complete")).await;
    assert_eq!(keeping_up().await, "insufficient_sample");
    feed.execute(&seen(10, 18, "pending")).await;
    assert_eq!(keeping_up().await, "yes");
    feed.execute(&seen(19, 20, "pending")).await;
    assert_eq!(keeping_up().await, "no");
}

#[tokio::test]
async fn statement_41_events_are_paged_by_cursor_and_filtered() {
    let feed = Feed::with(&[("MAX_PAGES_PER_POLL", "3")]).await;
    feed.polled().await;
    let site = Site::of(&feed).await;
    let mut ids = Vec::new();
    let mut path = "/api/push_events?limit=4".to_owned();
    loop {
        let page = site.json(&path).await;
        ids.extend(page["push_events"].as_array().unwrap().iter().map(|event| event["id"].as_i64().unwrap()));
        match page["next_cursor"].as_i64() {
            Some(cursor) => path = format!("/api/push_events?limit=4&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(ids.len(), 6);
    assert!(ids.is_sorted_by(|one, next| one > next));
    let count = async |filter: &str| {
        site.json(&format!("/api/push_events?{filter}")).await["push_events"].as_array().unwrap().len()
    };
    assert_eq!(count("actor_id=910001").await, 3);
    assert_eq!(count("repository_id=920002&ref=refs/tags/v2.1.0").await, 1);
    for bad in ["limit=0", "limit=9999", "cursor=x", "nonsense=1", "ref=%00"] {
        let (status, body) = site.get(&format!("/api/push_events?{bad}")).await;
        assert_eq!(status, 400, "{bad}: {body}");
    }
}

#[tokio::test]
async fn statement_41_events_are_addressed_by_our_id_and_entities_by_githubs() {
    let feed = Feed::of("strange").await;
    feed.polled().await;
    let site = Site::of(&feed).await;
    let ids = feed.column("SELECT id FROM pushfeed.push_event").await;
    for id in &ids {
        let (status, body) = site.get(&format!("/api/push_events/{id}")).await;
        assert!(status == 200 && body.contains("\"raw\":"), "{body}");
    }
    assert_eq!(site.json("/api/actors/910001").await["login"], "marta-lund");
    assert_eq!(site.json("/api/repositories/920001").await["name"], "tide-tables");
    assert_eq!(site.get("/api/actors/1").await.0, 404);
    assert_eq!(site.get("/api/push_events/x").await.0, 400);
    assert_eq!(site.get("/nowhere").await.0, 404);
}

#[tokio::test]
async fn statement_41_alive_without_a_database_and_ready_only_with_one() {
    let feed = Feed::of("default").await;
    let site = Site::of(&feed).await;
    assert_eq!(site.get("/health/ready").await.0, 200);
    feed.execute("DELETE FROM pushfeed.migration").await;
    assert_eq!(site.get("/health/ready").await, (503, "the database is not up to date\n".to_owned()));
    assert_eq!(site.get("/health/live").await.0, 200);
}
