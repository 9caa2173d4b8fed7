//! Many tickers, and many that wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fairgate::{NewJob, Settings};
use serde_json::json;

use super::per_account;
use crate::world::{World, policy, ticker};

#[tokio::test]
async fn sixteen_tickers_fight_for_crossing_scopes_without_deadlock_and_without_one_job_too_many() {
    let p = policy("p")
        .concurrency(|c| c.named("account").max(3.0).scope("account").full_backoff(Duration::from_millis(50)))
        .concurrency(|c| c.named("region").max(4.0).scope("region").full_backoff(Duration::from_millis(50)))
        .build()
        .expect("a policy");
    let world = World::new(vec![p.clone()]).await;
    world.execute(include_str!("watch.sql")).await;
    let jobs: Vec<NewJob> = (0..480)
        .map(|n| {
            let context =
                json!({ "tenant": format!("t{}", n % 120), "account": n * 7 % 11, "region": n * 5 % 7 });
            NewJob::new("work").context(&context).expect("a context")
        })
        .collect();
    world.stage_jobs("p", &jobs).await;
    let done = Arc::new(AtomicU64::new(0));
    let mut tickers = Vec::new();
    for _ in 0..16 {
        let mut one = ticker(world.pool(), vec![p.clone()], Settings::default()).await;
        let (pool, done) = (world.pool().clone(), Arc::clone(&done));
        tickers.push(tokio::spawn(async move {
            while done.load(Ordering::Relaxed) < 480 {
                let mut conn = pool.acquire().await.expect("a connection");
                let pass = one.pass(&mut conn, None, None).await.expect("a pass");
                done.fetch_add(pass.ticks.jobs_admitted, Ordering::Relaxed);
                let sql = "DELETE FROM graphile_worker._private_jobs WHERE id IN
                           (SELECT id FROM graphile_worker._private_jobs ORDER BY random() LIMIT 3 FOR UPDATE SKIP LOCKED)";
                sqlx::query(sql).execute(&mut *conn).await.expect("completed");
            }
        }));
    }
    for ticker in tickers {
        ticker.await.expect("a ticker that ends well");
    }
    world.audit().await;
    assert_eq!(world.number("SELECT count(*) FROM watch.over").await, 0);
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(world.number(deadlocks).await, 0);
    assert_eq!(done.load(Ordering::Relaxed), 480);
}

#[tokio::test]
async fn a_release_wakes_as_many_of_twenty_thousand_as_slots_came_free_in_waiting_order() {
    let settings = Settings { partition_batch_size: 5_000, ..Settings::default() };
    let mut world = World::with(vec![per_account("p", 5.0)], settings).await;
    world.stage_account("p", "a", 20_000, 1).await;
    assert_eq!(world.settle().await, 5);
    let waiting =
        "SELECT count(*) FROM fairgate.partition_state WHERE waiting_on IS NOT NULL AND due_at IS NULL";
    assert_eq!(world.number(waiting).await, 19_995);
    for freed in [1, 3, 5, 2] {
        let next = format!(
            "SELECT id::text FROM fairgate.partition_state WHERE waiting_on IS NOT NULL ORDER BY waiting_since, id LIMIT {freed}"
        );
        let next = world.column(&next).await;
        let before = world.number(waiting).await;
        assert_eq!(world.complete_any(freed).await, freed as u64);
        let mut admitted = world.pass().await.ticks.jobs_admitted;
        let looks = world
            .number("SELECT partitions_seen::bigint FROM fairgate.tick_sample ORDER BY id DESC LIMIT 1")
            .await;
        admitted += world.settle().await;
        assert_eq!((admitted, looks), (freed as u64, freed), "freed = woken = admitted");
        assert_eq!(world.number(waiting).await, before - freed);
        let went = format!(
            "SELECT count(*) FROM fairgate.in_flight WHERE partition_id = ANY ('{{{}}}'::uuid[])",
            next.join(",")
        );
        assert_eq!(world.number(&went).await, freed, "those that waited longest");
    }
    world.audit().await;
}

#[tokio::test]
async fn tickers_that_find_scopes_taken_lock_those_first_and_serve_the_rest() {
    let mut world = World::new(vec![per_account("p", 9.0)]).await;
    for account in ["a", "b"] {
        world.stage_account("p", account, 1, 1).await;
    }
    assert_eq!(world.settle().await, 2, "both scopes have their rows");
    for account in ["a", "b"] {
        world.stage_account("p", account, 3, 2).await;
    }
    let mut frozen = world.pool().begin().await.expect("a transaction");
    sqlx::query("SELECT FROM fairgate.scope WHERE key = 'a' FOR NO KEY UPDATE")
        .execute(&mut *frozen)
        .await
        .expect("a lock");
    let mut admitted = 0;
    for _ in 0..4 {
        admitted += world.pass().await.ticks.jobs_admitted;
    }
    assert_eq!((admitted, world.in_flight_of("b").await), (6, 7), "the other account is served");
    let untouched = "SELECT count(*) FROM fairgate.partitions WHERE key LIKE 'a-%' AND pending > 0 AND due_at IS NOT NULL";
    assert_eq!(world.number(untouched).await, 3);
    let pass = world.pass().await;
    assert!(!pass.busy && pass.wait <= Duration::from_millis(250), "{pass:?}");
    frozen.rollback().await.expect("thawed");
    assert_eq!(world.drain_into_slots().await, 6);
}
