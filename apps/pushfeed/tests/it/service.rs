//! Statement 43: the service works by itself, through a real queue, and goes on after a crash.

use crate::support::{Feed, Running, until};

const ALL_DONE: &str =
    "SELECT count(*) = 6 AND bool_and(state IN ('complete', 'permanent_failure')) FROM pushfeed.entity";

async fn feed() -> Feed {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let bind = format!("127.0.0.1:{port}");
    Feed::with(&[("HTTP_BIND", bind.as_str())]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_43_it_polls_and_enriches_by_itself_as_jobs_admitted_through_fairgate() {
    let feed = feed().await;
    let mut service = Running::start(&feed, &["run"]);
    until(&feed, ALL_DONE).await;
    assert_eq!(service.interrupt(), Some(0));
    assert_eq!(feed.value("SELECT count(*) FROM pushfeed.push_event").await, "4");
    let admitted = "SELECT sum(jobs_admitted) >= 7 FROM fairgate.tick_samples WHERE policy = 'pushfeed'";
    assert_eq!(feed.value(admitted).await, "true", "a poll and six enrichments");
    let used = "SELECT string_agg(used::text, ' ' ORDER BY class, member) FROM fairgate.budget_use";
    assert_eq!(feed.value(used).await, "3 3 1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_43_no_entity_rides_in_a_job() {
    let feed = feed().await;
    pushfeed::setup::migrate(&feed.app).await.unwrap();
    feed.polled().await;
    pushfeed::service::stage(&feed.app).await.unwrap();
    pushfeed::service::stage(&feed.app).await.unwrap();
    let jobs = "SELECT concat_ws(' ', task, payload, context) FROM fairgate.staged ORDER BY 1";
    assert_eq!(
        feed.column(jobs).await,
        ["pushfeed_enrich {} {\"work\": \"enrich\"}"],
        "and one that waits is enough"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statement_43_a_killed_service_is_followed_by_one_that_finds_the_rest() {
    let feed = feed().await;
    let mut service = Running::start(&feed, &["run"]);
    until(&feed, "SELECT EXISTS (SELECT FROM pushfeed.entity WHERE state = 'complete')").await;
    service.kill();
    // What it had leased is free when the lease is over.
    feed.later("5 minutes").await;
    let mut next = Running::start(&feed, &["run"]);
    until(&feed, ALL_DONE).await;
    assert_eq!(next.interrupt(), Some(0));
}

/// How long the database is away, in seconds. Five are two looks for work and more than any connection lives through: all that a longer outage adds is more of the
/// same looks, each of which fails by itself, so the suite does not wait for 60. `PUSHFEED_TEST_OUTAGE_SECONDS=60 cargo nextest run -p pushfeed away` does.
fn outage() -> u32 {
    std::env::var("PUSHFEED_TEST_OUTAGE_SECONDS").map_or(5, |seconds| seconds.parse().expect("whole seconds"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_for_a_while_is_waited_for() {
    let feed = feed().await;
    let mut service = Running::start(&feed, &["run"]);
    until(&feed, "SELECT EXISTS (SELECT FROM pushfeed.entity)").await;
    let server = fairgate_testkit::TestDb::bare().await;
    let name = feed.db.name().to_owned();
    let outside =
        async |sql: String| sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(server.pool()).await.map(|_| ());
    outside(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).await.unwrap();
    for _ in 0..outage() {
        outside(format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"))
            .await
            .unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    outside(format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true")).await.unwrap();
    until(&feed, "SELECT true").await;
    feed.later("5 minutes").await;
    until(&feed, ALL_DONE).await;
    assert_eq!(service.interrupt(), Some(0), "it went on by itself");
}
