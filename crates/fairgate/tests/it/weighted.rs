//! Weighted fairness end to end. The rule's own thresholds are proved in virtual time in the core.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fairgate::{Policy, Settings};
use fairgate_core::fairness::weighted::Cost;
use fairgate_core::policy::FairnessBuilder;
use serde_json::json;
use tokio::task::JoinSet;

use crate::world::{World, policy, ticker};

fn weighted(fairness: FairnessBuilder, budget: u32) -> Policy {
    policy("p").fairness(fairness).tick_admission_budget(budget).build().expect("a policy")
}

/// `jobs` of each of `tenants`, whose weights take turns between 1 and 4.
async fn stage(world: &World, tenants: usize, jobs: usize) {
    for n in 0..tenants {
        let weight = if n % 2 == 0 { 1 } else { 4 };
        let context = json!({ "tenant": format!("t{n}"), "weight": weight });
        let batch: Vec<_> =
            (0..jobs).map(|_| fairgate::NewJob::new("work").context(&context).expect("an object")).collect();
        world.stage_jobs("p", &batch).await;
    }
}

/// What each tenant got, by weight.
async fn admitted(world: &World) -> BTreeMap<i64, Vec<i64>> {
    let sql = "SELECT (context ->> 'weight')::bigint, admitted FROM fairgate.partitions ORDER BY key";
    let rows: Vec<(i64, i64)> = sqlx::query_as(sql).fetch_all(world.pool()).await.expect("rows");
    let mut by_weight: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (weight, jobs) in rows {
        by_weight.entry(weight).or_default().push(jobs);
    }
    by_weight
}

#[tokio::test]
async fn backlogged_tenants_share_a_budget_by_their_weights() {
    let settings = Settings { partition_batch_size: 20, ..Settings::default() };
    let policy = weighted(FairnessBuilder::weighted(), 60);
    let mut world = World::with(vec![policy], settings).await;
    stage(&world, 40, 150).await;
    let mut all = 0;
    for _ in 0..40 {
        all += world.pass().await.ticks.jobs_admitted;
    }
    // Twenty of weight 1, twenty of weight 4: 100 parts.
    let part = all as f64 / 100.0;
    for (weight, jobs) in admitted(&world).await {
        for jobs in jobs {
            let due = part * weight as f64;
            assert!((jobs as f64 - due).abs() <= 2.0 + 0.10 * due, "weight {weight}: {jobs} of {due}");
        }
    }
    assert!(all >= 2_232, "{all} of a budget of 2,400");
    world.audit().await;
}

/// Four tickers side by side, until they have admitted so many jobs.
async fn four_tickers_admit(world: &World, settings: &Settings, jobs: u64) {
    let so_far = Arc::new(AtomicU64::new(0));
    let mut tickers = JoinSet::new();
    for _ in 0..4 {
        let mut ticker = ticker(world.pool(), vec![], settings.clone()).await;
        let (pool, so_far) = (world.pool().clone(), so_far.clone());
        tickers.spawn(async move {
            let mut conn = pool.acquire().await.expect("a connection");
            while so_far.load(Ordering::Relaxed) < jobs {
                let pass = ticker.pass(&mut conn, None, None).await.expect("a pass");
                so_far.fetch_add(pass.ticks.jobs_admitted, Ordering::Relaxed);
            }
        });
    }
    tickers.join_all().await;
}

/// What tenants got beside their shares, in a window after ten rounds: each error past 10%, in jobs; Jain's index of all.
async fn errors_of_four_tickers(world: &World, settings: &Settings, round: u64, rounds: u64) -> (f64, f64) {
    world.absorb().await;
    // The lane gets to know its weights first.
    four_tickers_admit(world, settings, 10 * round).await;
    let before = admitted(world).await;
    four_tickers_admit(world, settings, rounds * round).await;
    let after = admitted(world).await;
    world.audit().await;
    let got = |weight: &i64| after[weight].iter().zip(&before[weight]).map(|(after, before)| after - before);
    let tenants: Vec<(f64, f64)> =
        after.keys().flat_map(|weight| got(weight).map(|jobs| (*weight as f64, jobs as f64))).collect();
    let all: f64 = tenants.iter().map(|(_, got)| got).sum();
    let weights: f64 = tenants.iter().map(|(weight, _)| weight).sum();
    let parts: Vec<f64> = tenants.iter().map(|(weight, got)| got * weights / (all * weight)).collect();
    let error =
        |(weight, got): &(f64, f64)| (got - all * weight / weights).abs() - 0.10 * all * weight / weights;
    let sum: f64 = parts.iter().sum();
    let jain = sum * sum / (parts.len() as f64 * parts.iter().map(|part| part * part).sum::<f64>());
    (tenants.iter().map(error).fold(f64::MIN, f64::max), jain)
}

#[tokio::test]
async fn four_tickers_share_by_weight_too() {
    let settings = Settings { partition_batch_size: 5, ..Settings::default() };
    let policy = weighted(FairnessBuilder::weighted(), 30);
    let world = World::with(vec![policy], settings.clone()).await;
    stage(&world, 40, 600).await;
    // Eight batches of at most 30 jobs a round. Some tickers are slow, so a batch may lag by some rounds for a while.
    let (error, jain) = errors_of_four_tickers(&world, &settings, 8 * 30, 30).await;
    assert!(error <= 4.0 && jain >= 0.995, "{error:.1} jobs past 10%, jain {jain:.4}");
}

#[tokio::test]
async fn by_worker_time_a_tenant_with_long_jobs_gets_fewer_of_them() {
    let policy = weighted(FairnessBuilder::weighted().cost(Cost::Time).weight(1.0), 12);
    let mut world = World::new(vec![policy]).await;
    for (tenant, jobs) in [("short", 900), ("long", 200)] {
        world.stage("p", tenant, jobs).await;
    }
    let mut seconds = BTreeMap::from([("short", 0_i64), ("long", 0)]);
    for _ in 0..60 {
        world.pass().await;
        world.execute("UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = 1 WHERE locked_at IS NULL").await;
        for (tenant, takes) in [("short", 1), ("long", 10)] {
            let ids = format!(
                "SELECT (flags #>> '{{fairgate,a}}')::uuid FROM graphile_worker._private_jobs WHERE flags #>> '{{fairgate,p}}' = '{tenant}'"
            );
            world
                .execute(&format!("UPDATE fairgate.in_flight SET started_at = clock_timestamp() - interval '{takes} seconds' WHERE admission_id IN ({ids})"))
                .await;
            let ended = world.complete(tenant, 100).await;
            *seconds.get_mut(tenant).expect("one of the two") += i64::try_from(ended).expect("few") * takes;
        }
    }
    let (short, long) = (seconds["short"] as f64, seconds["long"] as f64);
    // Two of the longest jobs and a twentieth.
    assert!((short - long).abs() <= 2.0 * 10.0 + 0.05 * (short + long), "{short} s and {long} s");
    assert!(short > 100.0, "{short} s");
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_was_removed_before_it_began_costs_nothing() {
    let policy = weighted(FairnessBuilder::weighted().cost(Cost::Time), 4);
    let mut world = World::new(vec![policy]).await;
    world.stage("p", "a", 8).await;
    world.pass().await;
    let charged = "SELECT coalesce(sum(charged), 0)::float8::text FROM fairgate.in_flight";
    let charged: f64 = world.text(charged).await.parse().expect("a number");
    assert!(charged > 0.0);
    world.execute("DELETE FROM graphile_worker._private_jobs").await;
    world.absorb().await;
    let back = "SELECT (-correction)::text FROM fairgate.partition_state";
    let back: f64 = world.text(back).await.parse().expect("a number");
    assert!((charged - back).abs() < 1e-9, "{charged} and {back}");
    assert_eq!(world.number("SELECT finished_jobs::bigint FROM fairgate.partition_state").await, 0);
}

#[tokio::test]
async fn a_weight_that_cannot_be_read_denies_with_a_reason_and_holds_up_nobody() {
    let policy = weighted(FairnessBuilder::weighted(), 10);
    let mut world = World::new(vec![policy]).await;
    world.stage_with("p", "bad", json!({ "weight": "heavy" })).await;
    world.stage_with("p", "good", json!({ "weight": 2 })).await;
    assert_eq!(world.settle().await, 1);
    assert_eq!(
        world.column("SELECT denial FROM fairgate.partitions WHERE key = 'bad'").await,
        ["bad_parameter"]
    );
    world.stage_with("p", "bad", json!({ "weight": 1 })).await;
    assert_eq!(world.settle().await, 2, "a newer context is looked at again");
    world.audit().await;
}

#[tokio::test]
async fn an_advance_that_finds_its_lane_in_other_hands_is_carried_to_the_next_tick() {
    let policy = weighted(FairnessBuilder::weighted(), 5);
    let mut world = World::new(vec![policy]).await;
    stage(&world, 4, 50).await;
    world.pass().await;
    let share = "SELECT share FROM fairgate.shard";
    let before = world.text(share).await;
    let mut other = world.db.connect().await;
    let mut tx = sqlx::Connection::begin(&mut other).await.unwrap();
    sqlx::query("SELECT FROM fairgate.shard FOR NO KEY UPDATE").execute(&mut *tx).await.unwrap();
    assert!(world.pass().await.ticks.jobs_admitted > 0, "nobody waits for it");
    assert_eq!(world.text(share).await, before);
    tx.rollback().await.unwrap();
    world.pass().await;
    assert_ne!(world.text(share).await, before);
}
