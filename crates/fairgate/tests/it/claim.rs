//! Who is looked at, and when.

use std::collections::BTreeSet;
use std::time::Duration;

use fairgate::Settings;
use sqlx::Acquire;

use crate::world::{World, capped, open, policy, queued};

/// Keys of the partitions that were looked at since the last call.
async fn looked_at(world: &World, since: &mut chrono::DateTime<chrono::Utc>) -> BTreeSet<String> {
    let sql = "SELECT key, checked_at FROM fairgate.partitions WHERE checked_at > $1";
    let rows: Vec<(String, chrono::DateTime<chrono::Utc>)> =
        sqlx::query_as(sql).bind(*since).fetch_all(world.pool()).await.expect("rows");
    *since = rows.iter().map(|r| r.1).max().unwrap_or(*since);
    rows.into_iter().map(|r| r.0).collect()
}

#[tokio::test]
async fn each_of_n_due_partitions_is_looked_at_within_n_over_b_ticks_however_hot_its_neighbours() {
    let settings = Settings { partition_batch_size: 5, admission_batch_size: 2, ..Settings::default() };
    let mut world = World::with(vec![open("p")], settings).await;
    for n in 0..20 {
        world.stage("p", &format!("quiet {n}"), 12).await;
    }
    world.stage("p", "hot a", 400).await;
    world.stage("p", "hot b", 400).await;
    // 22 partitions, 5 a tick: within 5 ticks.
    let mut since = chrono::DateTime::UNIX_EPOCH;
    let mut ticks: Vec<BTreeSet<String>> = Vec::new();
    for _ in 0..20 {
        world.pass().await;
        world.stage("p", "hot a", 3).await;
        ticks.push(looked_at(&world, &mut since).await);
        assert_eq!(ticks.last().map(BTreeSet::len), Some(5));
    }
    for (n, window) in ticks.windows(5).enumerate() {
        let seen: BTreeSet<_> = window.iter().flatten().collect();
        assert_eq!(seen.len(), 22, "ticks {n} to {}", n + 4);
    }
    world.audit().await;
}

#[tokio::test]
async fn a_policy_with_many_due_partitions_does_not_delay_another() {
    let settings = Settings { partition_batch_size: 3, ..Settings::default() };
    let mut world = World::with(vec![open("many"), open("few")], settings).await;
    let crowd: Vec<_> = (0..200).map(|n| crate::world::job(&format!("t{n}"))).collect();
    world.stage_jobs("many", &crowd).await;
    world.stage("few", "one", 1).await;
    let first = world.pass().await;
    assert_eq!((first.lanes, first.ticks.jobs_admitted), (2, 4));
    assert_eq!(queued(&mut *world.conn().await, "one").await, 1);
}

#[tokio::test]
async fn a_pass_that_ran_out_of_time_goes_on_with_the_lane_behind_the_last() {
    let settings = Settings {
        tick_max_duration: Duration::from_millis(100),
        partition_batch_size: 1,
        ..Settings::default()
    };
    let mut world = World::with(vec![open("a"), open("b"), open("c")], settings).await;
    for policy in ["a", "b", "c"] {
        world.stage(policy, "t1", 1).await;
        world.stage(policy, "t2", 1).await;
    }
    world.absorb().await;
    // The queue is so slow that one tick uses up the time of a pass.
    world
        .execute(
            "CREATE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.15); RETURN NULL; END $$;
             CREATE TRIGGER slow BEFORE INSERT ON graphile_worker._private_jobs FOR EACH STATEMENT EXECUTE FUNCTION public.slow()",
        )
        .await;
    for _ in 0..6 {
        let pass = world.pass().await;
        assert_eq!((pass.lanes, pass.busy), (1, true));
    }
    let order = "SELECT flags #>> '{fairgate,policy}' FROM graphile_worker._private_jobs ORDER BY id";
    assert_eq!(world.column(order).await, ["a", "b", "c", "a", "b", "c"]);
}

#[tokio::test]
async fn a_denied_partition_is_not_claimed_before_its_retry_time() {
    let p = policy("p").throttle(|t| t.rate(1.0).per(Duration::from_secs(10))).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    world.stage("p", "a", 3).await;
    let start = world.after_ms(1_000).await;
    let seconds = chrono::TimeDelta::seconds;
    assert_eq!(world.admitted_at(start).await, 1);
    for wait in [0, 1, 5, 9] {
        let pass = world.pass_at(start + seconds(wait)).await;
        assert_eq!((pass.lanes, pass.busy), (0, false), "after {wait} s");
        assert_eq!(pass.wait, Duration::from_secs(10 - wait.unsigned_abs()));
    }
    // A finished job brings no token, so it brings no look either.
    world.complete("a", 1).await;
    assert_eq!(world.pass_at(start + seconds(9)).await.lanes, 0);
    assert_eq!(world.admitted_at(start + seconds(10)).await, 1);
}

#[tokio::test]
async fn a_partition_that_another_ticker_holds_is_passed_over() {
    let mut world = World::new(vec![open("p")]).await;
    world.stage("p", "held", 1).await;
    world.stage("p", "free", 1).await;
    world.absorb().await;
    let mut other = world.db.connect().await;
    let mut tick = other.begin().await.unwrap();
    let hold = "SELECT FROM fairgate.partition_state s JOIN fairgate.partition p USING (id) WHERE p.key = 'held' FOR NO KEY UPDATE OF s";
    sqlx::query(hold).execute(&mut *tick).await.unwrap();
    assert_eq!(world.pass().await.ticks.jobs_admitted, 1);
    assert_eq!(queued(&mut *world.conn().await, "held").await, 0);
    tick.rollback().await.unwrap();
    assert_eq!(world.pass().await.ticks.jobs_admitted, 1);
}

#[tokio::test]
async fn a_partition_without_waiting_jobs_costs_no_look() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    world.stage("p", "a", 2).await;
    assert_eq!(world.settle().await, 2);
    world.complete("a", 2).await;
    let samples = "SELECT count(*) FROM fairgate.tick_samples";
    let before = world.number(samples).await;
    assert_eq!(world.pass().await.lanes, 0);
    assert_eq!(world.number(samples).await, before);
}

#[tokio::test]
async fn tickers_at_work_share_what_is_due_and_a_lone_one_takes_it_all() {
    let settings = Settings { partition_batch_size: 50, admission_batch_size: 1, ..Settings::default() };
    let mut world = World::with(vec![open("p")], settings).await;
    for n in 0..40 {
        world.stage("p", &format!("t{n}"), 3).await;
    }
    let at_work = |count: i64, serves: &str, asleep: bool| {
        format!(
            "INSERT INTO fairgate.ticker (id, serves, asleep) SELECT gen_random_uuid(), '{serves}', {asleep} FROM generate_series(1, {count})"
        )
    };
    // Sleepers, those that serve something else, and those that were last seen long ago do not count.
    world.execute(&at_work(3, "every policy", true)).await;
    world.execute(&at_work(3, "policy other", false)).await;
    world
        .execute(
            &at_work(3, "every policy", false)
                .replace("serves, asleep", "serves, seen_at, asleep")
                .replace("'every policy'", "'every policy', now() - interval '1 minute'"),
        )
        .await;
    assert_eq!(world.pass().await.ticks.partitions_seen, 40);
    world.execute(&at_work(2, "every policy", false)).await;
    world.execute(&at_work(2, "policy p", false)).await;
    let mut since = chrono::DateTime::UNIX_EPOCH;
    looked_at(&world, &mut since).await;
    let mut seen = BTreeSet::new();
    for _ in 0..4 {
        assert_eq!(world.pass().await.ticks.partitions_seen, 10);
        seen.extend(looked_at(&world, &mut since).await);
    }
    assert_eq!(seen.len(), 40, "each once in four ticks");
    world.audit().await;
}
