//! `fairgate demo --queue NAME`, for every queue whose workers are played by its SQL.

use fairgate_testkit::TestDb;

use crate::demo::assert_good;
use crate::support::User;

async fn plays(queue: &'static str) {
    let database = TestDb::new().await;
    let user = User::of(&database);
    let report =
        user.run(&["demo", "--queue", queue, "--headless", "--for", "2s", "--json"]).succeeds().json();
    assert_good(&report);
    assert_eq!(fairgate::doctor::audit(&mut database.connect().await).await.unwrap(), []);
}

#[tokio::test]
async fn the_demo_runs_on_apalis() {
    plays("apalis").await;
}

#[tokio::test]
async fn the_demo_runs_on_pgmq() {
    plays("pgmq").await;
}

#[tokio::test]
async fn the_demo_runs_on_pg_boss() {
    plays("pg_boss").await;
}

#[tokio::test]
async fn the_demo_runs_on_procrastinate() {
    plays("procrastinate").await;
}

#[tokio::test]
async fn the_demo_runs_on_underway() {
    plays("underway").await;
}

#[tokio::test]
async fn the_demo_runs_on_a_table() {
    plays("table").await;
}

/// Somebody else's jobs may wait there.
#[tokio::test]
async fn tables_that_the_demo_did_not_make_are_left_alone() {
    let database = TestDb::new().await;
    sqlx::raw_sql("CREATE TABLE public.river_job (id bigint)").execute(database.pool()).await.unwrap();
    let ran = User::of(&database).run(&["demo", "--queue", "table", "--headless", "--for", "1s"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("table public.river_job is in this database already\n  hint: "), "{ran}");
}
