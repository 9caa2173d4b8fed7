//! Staging one job at a time by 16 connections into one tenant, beside a plain INSERT of the same row.

use std::time::Instant;

use fairgate::NewJob;
use tokio::task::JoinSet;

use crate::lean::Lean;
use crate::setup::{Bench, large_ticks, wide_open};
use crate::table::{Row, Table, median};

const CONNECTIONS: u32 = 16;
const EACH: u32 = 300;

#[derive(Clone, Copy)]
enum Way {
    Stage,
    Insert,
}

pub(crate) async fn run(bench: &Bench, table: &mut Table) {
    bench.empty().await;
    drop(bench.ticker(wide_open(), large_ticks(), Lean::new()).await);
    // Both ways once, so that every connection has its plans.
    write(bench, Way::Stage).await;
    write(bench, Way::Insert).await;
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for round in 0..7 {
        if round % 2 == 0 {
            theirs.push(write(bench, Way::Insert).await);
            ours.push(write(bench, Way::Stage).await);
        } else {
            ours.push(write(bench, Way::Stage).await);
            theirs.push(write(bench, Way::Insert).await);
        }
    }
    let (theirs, ours, jobs) = (median(&theirs), median(&ours), f64::from(CONNECTIONS * EACH));
    table.push(Row {
        section: "staging singly, beside a plain INSERT of the same row",
        what: format!("{CONNECTIONS} connections, one tenant, a commit each"),
        ratio: Some(theirs / ours),
        target: Some(0.6),
        at_most: false,
        figures: format!("{:.0} jobs/s beside {:.0}", jobs / ours, jobs / theirs),
    });
    bench.empty().await;
}

async fn write(bench: &Bench, way: Way) -> f64 {
    let mut conns = Vec::new();
    for _ in 0..CONNECTIONS {
        conns.push(bench.pool.acquire().await.expect("a connection"));
    }
    let context = serde_json::json!({"tenant": "one", "max": 5});
    let payload = r#"{"n": 1, "text": "a payload of ordinary length for a background job"}"#;
    let job = NewJob::new("noop").context(&context).expect("an object").payload_json(payload).expect("JSON");
    let began = Instant::now();
    let mut writers = JoinSet::new();
    for mut conn in conns {
        let job = job.clone();
        writers.spawn(async move {
            for _ in 0..EACH {
                match way {
                    Way::Stage => drop(fairgate::stage(&mut conn, "bench", &job).await.expect("staged")),
                    Way::Insert => {
                        let insert = sqlx::query(include_str!("../queries/plain_insert.sql"))
                            .bind("noop")
                            .bind(payload)
                            .bind(r#"{"tenant": "one", "max": 5}"#);
                        insert.execute(&mut *conn).await.expect("inserted");
                    }
                }
            }
        });
    }
    writers.join_all().await;
    began.elapsed().as_secs_f64()
}
