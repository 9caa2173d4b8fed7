//! Single interleavings, move by move: one ticker's claim is held between its snapshot and its locks while something else happens.

use std::time::Duration;

use fairgate::registry::{Options, Source, apply};
use fairgate::{NewJob, Policy, Settings, Ticker};
use serde_json::json;
use sqlx::PgConnection;

use super::complaints::{Fault, Problem};
use super::plan::Sabotage;
use super::policies::queue;
use super::run::{run_script, watch_database};
use crate::TestDb;

/// What happens while a claim is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meanwhile {
    /// Another ticker admits one job of the same partition.
    AnotherAdmits,
    /// A stage with this `max` in its context is absorbed.
    MaxBecomes(u32),
}

/// What came of it.
#[derive(Debug)]
pub struct Played {
    /// What the triggers found.
    pub problems: Vec<Problem>,
    /// Jobs in flight after the held tick.
    pub in_flight: i64,
    /// Jobs in flight after one more pass.
    pub later_in_flight: i64,
}

/// Stages five jobs of one tenant with this `max`, holds a ticker's claim, lets something happen, and lets the claim go on.
///
/// # Panics
/// When a move fails.
pub async fn play(max: u32, meanwhile: Meanwhile, sabotage: Option<Sabotage>) -> Played {
    let db = TestDb::new().await;
    let mut conn = db.connect().await;
    let policy = Policy::builder("p").queue("main").partition_by("tenant").concurrency(|c| {
        // Nothing but a finish or another limit brings a full partition back in time.
        c.max_from("max", None).full_backoff(Duration::from_secs(3_600))
    });
    let policy = policy.build().expect("a policy without mistakes");
    let options = Options { source: Source::Code, revision: None, hooks: true, go_back: false };
    apply(&mut conn, &[queue()], &[policy], options).await.expect("registered");
    watch_database(db.pool()).await;
    run_script(db.pool(), include_str!("../../queries/torture/claims_wait.sql")).await;
    if let Some(sabotage) = sabotage {
        run_script(db.pool(), sabotage.sql()).await;
    }
    stage(&mut conn, max, 5).await;
    fairgate::absorb::absorb(&mut conn, None).await.expect("absorbed");

    let mut gatekeeper = db.connect().await;
    execute(&mut gatekeeper, "SELECT pg_advisory_lock(7)").await;
    let mut held_conn = db.connect().await;
    execute(&mut held_conn, "SET application_name = 'held claim'").await;
    let mut held = ticker(&db, 100);
    let held = tokio::spawn(async move { held.pass(&mut held_conn, None, None).await });
    wait_until_held(&mut gatekeeper).await;
    match meanwhile {
        Meanwhile::AnotherAdmits => {
            let pass = ticker(&db, 1).pass(&mut conn, None, None).await.expect("a pass");
            assert_eq!(pass.ticks.jobs_admitted, 1);
        }
        Meanwhile::MaxBecomes(max) => {
            stage(&mut conn, max, 1).await;
            fairgate::absorb::absorb(&mut conn, None).await.expect("absorbed");
        }
    }
    execute(&mut gatekeeper, "SELECT pg_advisory_unlock(7)").await;
    held.await.expect("a pass does not panic").expect("a pass");

    let in_flight = in_flight(&mut conn).await;
    ticker(&db, 100).pass(&mut conn, None, None).await.expect("a pass");
    let later_in_flight = self::in_flight(&mut conn).await;
    let found: Vec<(String, String)> =
        sqlx::query_as("SELECT fault, detail FROM torture.violation ORDER BY id")
            .fetch_all(&mut conn)
            .await
            .expect("the violations");
    let problems = found.into_iter().map(|(fault, detail)| Problem { fault: Fault::named(&fault), detail });
    Played { problems: problems.collect(), in_flight, later_in_flight }
}

/// Stages one job each to two policies, and passes over them while somebody changes the first. Returns the policies that admitted.
///
/// # Panics
/// When a move fails.
pub async fn pass_beside_a_change() -> Vec<String> {
    let db = TestDb::new().await;
    let mut conn = db.connect().await;
    let policies = ["changing", "other"].map(|name| {
        Policy::builder(name).queue("main").partition_by("tenant").build().expect("a policy without mistakes")
    });
    let options = Options { source: Source::Code, revision: None, hooks: true, go_back: false };
    apply(&mut conn, &[queue()], &policies, options).await.expect("registered");
    for policy in &policies {
        let job = NewJob::new("work").context(&json!({ "tenant": "a" })).expect("an object");
        fairgate::stage(&mut conn, policy, &job).await.expect("staged");
    }
    let mut operator = db.connect().await;
    let hold = "SELECT pg_advisory_lock(1181114740, id) FROM fairgate.policy WHERE name = 'changing'";
    execute(&mut operator, hold).await;
    let mut ticker = ticker(&db, 100);
    let pass = ticker.pass(&mut conn, None, None);
    let pass = tokio::time::timeout(Duration::from_secs(20), pass).await;
    pass.expect("the ticker does not wait for the change").expect("a pass");
    sqlx::query_scalar("SELECT policy FROM fairgate.inflight ORDER BY policy")
        .fetch_all(&mut operator)
        .await
        .expect("the slots")
}

fn ticker(db: &TestDb, admission_batch_size: u32) -> Ticker {
    let settings = Settings { admission_batch_size, ..Settings::default() };
    Ticker::builder(db.pool().clone()).settings(settings).build().expect("good settings")
}

async fn stage(conn: &mut PgConnection, max: u32, count: usize) {
    let job = NewJob::new("work").context(&json!({ "tenant": "a", "max": max })).expect("an object");
    fairgate::stage_many(conn, "p", &vec![job; count]).await.expect("staged");
}

async fn execute(conn: &mut PgConnection, sql: &'static str) {
    sqlx::query(sql).execute(conn).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
}

async fn in_flight(conn: &mut PgConnection) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM fairgate.in_flight").fetch_one(conn).await.expect("a count")
}

async fn wait_until_held(conn: &mut PgConnection) {
    const SQL: &str = "SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted)";
    let held = async {
        while !sqlx::query_scalar::<_, bool>(SQL).fetch_one(&mut *conn).await.expect("the locks") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), held).await.expect("the claim is held");
}
