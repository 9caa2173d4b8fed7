//! Live mode: real requests over real HTTP, to a server on this machine that plays GitHub.

use std::collections::BTreeMap;
use std::time::Duration;

use fairgate_testkit::TestDb;
use pushfeed::enrich::{Cycle, enrich};
use pushfeed::ingest::run::Outcome;
use pushfeed::ingest::{Polled, poll};
use pushfeed::{App, Config, setup};
use serde_json::json;

use crate::mock::{Mock, Reply, whole};
use crate::support::ran;

/// A program that asks a server on this machine.
pub(crate) struct Live {
    pub(crate) db: TestDb,
    pub(crate) app: App,
}

impl Live {
    pub(crate) async fn asking(mock: &Mock, settings: &[(&str, &str)]) -> Self {
        let db = TestDb::without_queue().await;
        let address = mock.address.to_string();
        let own =
            [("DATABASE_URL", db.url()), ("GITHUB_CONNECT_TO", address.as_str()), ("MAX_HTTP_RETRIES", "0")];
        let all: BTreeMap<&str, &str> = own.into_iter().chain(settings.iter().copied()).collect();
        let app = App::new(Config::read(|name| all.get(name).map(|v| (*v).to_owned())).unwrap()).unwrap();
        setup::ensure(&app).await.unwrap();
        Self { db, app }
    }

    async fn poll(&self) -> Polled {
        poll(&mut self.app.worker().await.unwrap(), true, Duration::ZERO).await.unwrap()
    }
}

fn event(id: i64) -> serde_json::Value {
    let api = "https://api.github.com";
    json!({
        "id": id.to_string(), "type": "PushEvent", "created_at": "2026-01-01T00:00:00Z",
        "actor": {"id": 1, "login": "a", "url": format!("{api}/users/a")}, "repo": {"id": 2, "name": "a/r", "url": format!("{api}/repos/a/r")},
        "payload": {"repository_id": 2, "push_id": 3, "ref": "x", "head": "a".repeat(40), "before": "b".repeat(40)},
    })
}

/// A page of one event, and documents.
pub(crate) fn good(path: &str) -> Reply {
    match path.split('?').next().unwrap() {
        "/events" => whole(200, 59, &[("etag", "W/\"x\"")], &json!([event(5)]).to_string()),
        "/users/a" => whole(200, 58, &[], r#"{"id": 1, "login": "a"}"#),
        "/repos/a/r" => whole(200, 57, &[], r#"{"id": 2, "name": "r"}"#),
        _ => whole(404, 50, &[], "{}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_say_who_asks_and_send_the_validator_verbatim() {
    let mock = Mock::start(|asked, _| async move {
        if asked.header("if-none-match").is_some() { whole(304, 58, &[], "") } else { good(&asked.path) }
    })
    .await;
    let live = Live::asking(&mock, &[]).await;
    assert_eq!(ran(live.poll().await).created, 1);
    sqlx::raw_sql("UPDATE pushfeed.source SET last_finished_at = NULL")
        .execute(live.db.pool())
        .await
        .unwrap();
    let mut worker = live.app.worker().await.unwrap();
    let again = poll(&mut worker, false, Duration::ZERO).await.unwrap();
    assert!(matches!(again, Polled::Ran { outcome: Outcome::NotModified, .. }));
    let asked = mock.asked();
    assert_eq!(asked[0].path, "/events?per_page=100");
    assert_eq!(asked[0].header("host"), Some("api.github.com"));
    assert!(asked[0].header("user-agent").unwrap().starts_with("pushfeed/"));
    assert_eq!((asked[0].header("if-none-match"), asked[1].header("if-none-match")), (None, Some("W/\"x\"")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_26_a_token_does_not_leave_for_a_stand_in_and_a_304_is_free() {
    let mock = Mock::start(|_, count| async move {
        if count == 0 { whole(200, 59, &[("etag", "\"x\"")], "[]") } else { whole(304, 59, &[], "") }
    })
    .await;
    let live = Live::asking(&mock, &[("GITHUB_TOKEN", "ghp_secret")]).await;
    ran(live.poll().await);
    ran(live.poll().await);
    assert!(mock.asked().iter().all(|asked| asked.header("authorization").is_none()));
    let left: (i32, i32) = sqlx::query_as(
        "SELECT remaining, (SELECT used FROM fairgate.budget_use WHERE class = 'poll') FROM fairgate.budget",
    )
    .fetch_one(live.db.pool())
    .await
    .unwrap();
    assert_eq!(left, (59, 1), "the limit is what the headers tell, and the 304 gave its debit back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_7_broken_answers_are_failures_and_their_debits_stay() {
    for (reply, said) in [
        (Reply::Half, "the answer broke off"),
        (Reply::Noise, "the answer broke off"),
        (Reply::Silence, "no whole answer within 2 s"),
        (whole(200, 59, &[], "<html>"), "the body is no JSON array"),
    ] {
        let answer = reply.clone();
        let mock = Mock::start(move |_, _| std::future::ready(answer.clone())).await;
        let live =
            Live::asking(&mock, &[("HTTP_OPEN_TIMEOUT_SECONDS", "1"), ("HTTP_READ_TIMEOUT_SECONDS", "1")])
                .await;
        let Polled::Ran { outcome, error, .. } = live.poll().await else { panic!("{reply:?}") };
        assert_eq!(outcome, Outcome::Failed);
        assert!(error.as_ref().unwrap().starts_with(said), "{error:?}");
        let used: i32 = sqlx::query_scalar("SELECT used FROM fairgate.budget_use WHERE class = 'poll'")
            .fetch_one(live.db.pool())
            .await
            .unwrap();
        assert_eq!(used, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_7_no_server_is_a_failure_too() {
    let mock = Mock::start(|_, _| std::future::ready(Reply::Noise)).await;
    let live = Live::asking(&mock, &[("GITHUB_CONNECT_TO", "127.0.0.1:1")]).await;
    let Polled::Ran { outcome, error, .. } = live.poll().await else { panic!("it was asked") };
    assert_eq!(outcome, Outcome::Failed);
    assert!(error.as_ref().unwrap().starts_with("no connection"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_37_a_redirect_to_another_host_is_not_followed_and_one_within_is() {
    let mock = Mock::start(|asked, _| async move {
        match asked.path.as_str() {
            "/users/a" => whole(301, 58, &[("location", "https://example.org/users/a")], ""),
            "/repos/a/r" => whole(301, 58, &[("location", "https://api.github.com/repositories/2")], ""),
            "/repositories/2" => whole(200, 57, &[], r#"{"id": 2}"#),
            path => good(path),
        }
    })
    .await;
    let live = Live::asking(&mock, &[]).await;
    ran(live.poll().await);
    let mut worker = live.app.worker().await.unwrap();
    let mut ends = Vec::new();
    for _ in 0..2 {
        ends.push(match enrich(&mut worker, None).await.unwrap() {
            Cycle::Enriched(kind) => format!("{} enriched", kind.code()),
            Cycle::Failed(kind, why) => format!("{} {why}", kind.code()),
            other => panic!("{other:?}"),
        });
    }
    ends.sort();
    assert_eq!(
        ends,
        ["actor refused redirect: the address is not of host api.github.com", "repository enriched"]
    );
    let paths: Vec<String> = mock.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths.len(), 4, "{paths:?}");
}

/// What else is going on in the database while a request is on its way.
const OPEN: &str = "SELECT format('%s %s', state, query) FROM pg_stat_activity
                     WHERE datname = current_database() AND pid <> pg_backend_pid() AND (xact_start IS NOT NULL OR state LIKE '%transaction%')";
/// The advisory locks that are held.
const LOCKS: &str = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_12_no_transaction_is_open_and_29_no_source_is_locked_while_a_request_is_on_its_way() {
    let db = std::sync::Arc::new(std::sync::OnceLock::<sqlx::PgPool>::new());
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (looking, noted) = (db.clone(), seen.clone());
    let mock = Mock::start(move |asked, _| {
        let (looking, noted) = (looking.clone(), noted.clone());
        async move {
            let pool = looking.get().unwrap();
            let open: Vec<String> = sqlx::query_scalar(OPEN).fetch_all(pool).await.unwrap();
            let locks: i64 = sqlx::query_scalar(LOCKS).fetch_one(pool).await.unwrap();
            let debits: i64 = sqlx::query_scalar("SELECT sum(used) FROM fairgate.budget_use")
                .fetch_one(pool)
                .await
                .unwrap();
            noted.lock().unwrap().push((asked.path.clone(), open, locks, debits));
            good(&asked.path)
        }
    })
    .await;
    let live = Live::asking(&mock, &[]).await;
    db.set(live.db.pool().clone()).unwrap();
    ran(live.poll().await);
    let mut worker = live.app.worker().await.unwrap();
    for _ in 0..2 {
        assert!(matches!(enrich(&mut worker, None).await.unwrap(), Cycle::Enriched(_)));
    }
    let nothing: Vec<String> = Vec::new();
    let expected = [
        // A poll holds its source and the gate, an enrichment the gate alone; each debit is committed before its request arrives.
        ("/events?per_page=100".to_owned(), nothing.clone(), 2, 1),
        ("/users/a".to_owned(), nothing.clone(), 1, 2),
        ("/repos/a/r".to_owned(), nothing, 1, 3),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_12_each_page_is_written_before_the_next_is_asked_for() {
    let db = std::sync::Arc::new(std::sync::OnceLock::<sqlx::PgPool>::new());
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (looking, noted) = (db.clone(), seen.clone());
    let mock = Mock::start(move |_, count| {
        let (looking, noted) = (looking.clone(), noted.clone());
        async move {
            let events: i64 = sqlx::query_scalar("SELECT count(*) FROM pushfeed.push_event")
                .fetch_one(looking.get().unwrap())
                .await
                .unwrap();
            noted.lock().unwrap().push(events);
            let next = format!("<https://api.github.com/events?page={}>; rel=\"next\"", count + 2);
            whole(
                200,
                50,
                &[("link", &next)],
                &json!([event(100 + i64::try_from(count).unwrap())]).to_string(),
            )
        }
    })
    .await;
    let live = Live::asking(&mock, &[("MAX_PAGES_PER_POLL", "3")]).await;
    db.set(live.db.pool().clone()).unwrap();
    assert_eq!(ran(live.poll().await).created, 3);
    assert_eq!(*seen.lock().unwrap(), [0, 1, 2]);
}
