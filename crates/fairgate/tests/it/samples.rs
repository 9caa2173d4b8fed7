//! What every tick leaves behind, and the numbers that people read.

use std::time::Duration;

use fairgate::observe::{PartitionSort, partitions, status};

use crate::world::{World, capped, job, name, open, policy};

const LAST: &str = "SELECT json_build_array(policy, shard, partitions_seen, partitions_admitted, partitions_denied, jobs_admitted, failures, pending, in_flight,
                                            denials)::text FROM fairgate.tick_samples ORDER BY id DESC LIMIT 1";

#[tokio::test]
async fn every_tick_leaves_a_sample_of_what_it_saw_admitted_and_denied_and_why() {
    let p = policy("p")
        .throttle(|t| t.rate(1.0).per(Duration::from_secs(60)).burst(2.0))
        .concurrency(|c| c.max_from("max", None))
        .shard_by("region");
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    let context = |max: i32| serde_json::json!({ "max": max, "region": "eu" });
    for (tenant, max, jobs) in [("roomy", 9, 5), ("tight", 1, 2), ("closed", 0, 1)] {
        for _ in 0..jobs {
            world.stage_with("p", tenant, context(max)).await;
        }
    }
    world.stage_with("p", "broken", serde_json::json!({ "region": "eu" })).await;
    world.absorb().await;
    world.execute("UPDATE fairgate.shard SET gauged_at = '-infinity'").await;
    world.execute(include_str!("../../queries/sweep/gauge_lanes.sql")).await;
    world.pass().await;
    let first = r#"["p", "eu", 4, 2, 2, 3, 0, 9, 0, {"bad_parameter": 1, "concurrency_full": 1}]"#;
    assert_eq!(world.text(LAST).await, first);

    let later = world.after_ms(5_000).await;
    world.pass_at(later).await;
    let second = r#"["p", "eu", 2, 0, 2, 0, 0, 9, 0, {"concurrency_full": 2}]"#;
    assert_eq!(world.text(LAST).await, second, "those that wait for their time are not looked at");
    let times = "SELECT count(*) FROM fairgate.tick_samples WHERE duration_ms > 0 AND at > now() - interval '1 minute'";
    assert_eq!(world.number(times).await, 2);
}

#[tokio::test]
async fn the_gauge_of_a_lane_is_what_its_partitions_counters_add_up_to() {
    let mut world = World::new(vec![capped("p", 2.0), open("q")]).await;
    let later = world.after_ms(3_600_000).await;
    world.stage("p", "a", 5).await;
    world.stage("p", "b", 1).await;
    world.stage_jobs("p", &[job("b").run_at(later)]).await;
    world.stage("q", "a", 1).await;
    world.settle().await;
    world.execute("UPDATE fairgate.shard SET gauged_at = '-infinity'").await;
    world.execute(include_str!("../../queries/sweep/gauge_lanes.sql")).await;
    let totals = "SELECT json_build_array(p.name, s.pending, s.future, s.in_flight)::text FROM fairgate.shard s JOIN fairgate.policy p ON p.id = s.policy_id ORDER BY 1";
    assert_eq!(world.column(totals).await, [r#"["p", 3, 1, 3]"#, r#"["q", 0, 0, 1]"#]);
}

#[tokio::test]
async fn the_status_counts_what_was_reported_and_not_folded_in_yet() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    world.stage("p", "a", 3).await;
    world.settle().await;
    world.complete("a", 1).await;
    world.stage("p", "new", 2).await;
    let later = world.after_ms(3_600_000).await;
    world.stage_jobs("p", &[job("a").run_at(later)]).await;
    let seen = status(&mut *world.conn().await).await.unwrap();
    let p = &seen.policies[0];
    assert!(seen.enabled && p.enabled && !p.paused && !p.retired && p.queue_ready);
    assert_eq!((p.pending, p.scheduled, p.in_flight, p.partitions), (3, 1, 1, 1));
    assert_eq!((p.admitted_last_minute, seen.reports, seen.quarantined), (2, 3, 0));
    assert!(p.oldest_ready_at.is_some());
    world.settle().await;
    let seen = status(&mut *world.conn().await).await.unwrap();
    let p = &seen.policies[0];
    assert_eq!((p.pending, p.scheduled, p.in_flight, p.partitions, seen.reports), (0, 1, 4, 2, 0));
}

#[tokio::test]
async fn partitions_are_listed_by_what_is_asked_for_and_found_by_a_part_of_their_key() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    for (tenant, jobs) in [("100%_a", 1), ("b_100", 4), ("c", 2)] {
        world.stage("p", tenant, jobs).await;
    }
    world.settle().await;
    let mut conn = world.conn().await;
    let keys = async |conn: &mut sqlx::PgConnection, search: Option<&str>, sort, limit| {
        let rows = partitions(conn, &name("p"), search, sort, limit).await.expect("rows");
        rows.into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(&mut conn, None, PartitionSort::Pending, 10).await, ["b_100", "c", "100%_a"]);
    assert_eq!(keys(&mut conn, None, PartitionSort::Key, 2).await, ["100%_a", "b_100"]);
    assert_eq!(keys(&mut conn, Some("100"), PartitionSort::Key, 10).await, ["100%_a", "b_100"]);
    assert_eq!(keys(&mut conn, Some("%"), PartitionSort::Key, 10).await, ["100%_a"], "taken literally");
    assert_eq!(keys(&mut conn, Some("nothing"), PartitionSort::Key, 10).await, [] as [&str; 0]);
}
