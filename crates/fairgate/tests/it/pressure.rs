//! Back-pressure: the queue behind us holds few jobs that nobody has begun, and what room it has is shared.

use fairgate::queue::GraphileWorker;
use fairgate::{Policy, Settings, Ticker};
use fairgate_testkit::TestDb;

use crate::world::{World, open};

/// A world whose queue holds `max` jobs that nobody has begun; None: it fits itself.
async fn world(policies: Vec<Policy>, max: Option<u32>) -> World {
    let db = TestDb::new().await;
    let queue = GraphileWorker::new("graphile_worker").expect("a name");
    let mut builder = Ticker::builder(db.pool().clone()).settings(Settings::default());
    builder = builder.queue("main", queue).expect("a name");
    if let Some(max) = max {
        builder = builder.max_waiting(max);
    }
    let builder = policies.into_iter().fold(builder, fairgate::ticker::TickerBuilder::policy);
    World { ticker: builder.register().await.expect("registered"), db }
}

/// Workers begin, and end, the oldest jobs of the queue.
async fn work(world: &World, jobs: i64) {
    let oldest = format!(
        "SELECT id FROM graphile_worker._private_jobs WHERE locked_at IS NULL ORDER BY id LIMIT {jobs}"
    );
    world.execute(&format!("UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = attempts + 1 WHERE id IN ({oldest})")).await;
    world.execute("DELETE FROM graphile_worker._private_jobs WHERE locked_at IS NOT NULL").await;
}

async fn admitted(world: &World, policy: &str) -> i64 {
    world
        .number(&format!(
            "SELECT coalesce(sum(admitted), 0)::bigint FROM fairgate.partitions WHERE policy = '{policy}'"
        ))
        .await
}

#[tokio::test]
async fn waiting_stays_at_the_limit_both_policies_progress_equally_and_a_third_begins_at_once() {
    let mut world = world(vec![open("one"), open("two"), open("three")], Some(20)).await;
    world.stage("one", "a", 500).await;
    world.stage("two", "b", 500).await;
    world.settle().await;
    for _ in 0..10 {
        assert_eq!(world.queue_length().await, 20);
        assert_eq!(world.number("SELECT count(*) FROM fairgate.in_flight WHERE waiting").await, 20);
        work(&world, 10).await;
        world.settle().await;
    }
    assert_eq!(world.queue_length().await, 20);
    let (one, two) = (admitted(&world, "one").await, admitted(&world, "two").await);
    assert_eq!(one + two, 120);
    assert!((one - two).abs() <= 2, "{one} and {two}");
    // Its job waits for the twenty ahead of it, not for the thousand that are staged.
    world.stage("three", "c", 1).await;
    work(&world, 3).await;
    world.settle().await;
    assert_eq!(admitted(&world, "three").await, 1);
    work(&world, 20).await;
    assert_eq!(world.number("SELECT count(*) FROM graphile_worker._private_jobs WHERE flags #>> '{fairgate,policy}' = 'three'").await, 0);
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_began_makes_room_while_it_runs() {
    let mut world = world(vec![open("p")], Some(5)).await;
    world.stage("p", "a", 50).await;
    assert_eq!(world.settle().await, 5);
    let full = world.pass().await;
    assert!(!full.busy && full.ticks.jobs_admitted == 0);
    assert!(full.wait <= std::time::Duration::from_millis(50), "it is looked at again soon: {:?}", full.wait);
    world.execute("UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = 1").await;
    assert_eq!(world.settle().await, 5, "five run, five wait");
    assert_eq!(world.in_flight().await, 10);
    // One that goes back unstarted in the queue runs again as before.
    world.audit().await;
}

#[tokio::test]
async fn within_a_policy_the_room_goes_to_the_tenants_in_equal_parts() {
    let mut world = world(vec![open("p")], Some(10)).await;
    for tenant in ["a", "b", "c", "d", "e"] {
        world.stage("p", tenant, 30).await;
    }
    assert_eq!(world.pass().await.ticks.jobs_admitted, 10);
    let each = "SELECT DISTINCT admitted::text FROM fairgate.partitions";
    assert_eq!(world.column(each).await, ["2"]);
    for tenant in ["f", "g", "h"] {
        world.stage("p", tenant, 30).await;
    }
    work(&world, 4).await;
    let report = world.pass().await.ticks;
    assert_eq!(report.jobs_admitted, 4);
    let denied = report.denials.get(&fairgate_core::reason::DenyReason::QueueFull);
    assert_eq!(denied, Some(&4), "eight were looked at, four got one each");
    // Those that were left out go first.
    work(&world, 4).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 4);
    let fewest = "SELECT min(admitted)::text FROM fairgate.partitions";
    assert_eq!(world.column(fewest).await, ["1"]);
    world.audit().await;
}

#[tokio::test]
async fn without_a_number_the_limit_follows_the_workers() {
    let mut world = world(vec![open("p")], None).await;
    world.stage("p", "a", 3_000).await;
    assert_eq!(world.settle().await, 100, "nobody has begun anything");
    world.execute("UPDATE graphile_worker._private_jobs SET locked_at = now(), attempts = 1").await;
    world.execute("UPDATE fairgate.queue SET gauged_at = now() - interval '1 minute'").await;
    let ticker = world.ticker;
    let mut conn = world.db.connect().await;
    fairgate::observe::gauge_queues(&mut conn).await.expect("gauged");
    let mut world = World { ticker, db: world.db };
    assert_eq!(world.number("SELECT running::bigint FROM fairgate.queue").await, 100);
    assert_eq!(world.settle().await, 300, "three times what runs");
    world.execute("UPDATE fairgate.queue SET max_waiting = 0").await;
    assert_eq!(world.settle().await, 2_600);
}
