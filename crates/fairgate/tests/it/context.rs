//! The context: the newest committed one rules, the job's own copy stays.

use serde_json::json;
use sqlx::Acquire;

use crate::doors::{DOORS, Draft};
use crate::world::{World, capped, open, policy};

const CONTEXT: &str = "SELECT context ->> 'v' FROM fairgate.partitions";

fn draft(v: &str) -> Draft {
    Draft::new(json!({ "tenant": "t", "v": v }).to_string())
}

#[tokio::test]
async fn after_a_b_a_the_partition_has_a_whether_or_not_it_was_looked_at_in_between() {
    for looks in [false, true] {
        let world = World::new(vec![open("p")]).await;
        for door in DOORS {
            for v in ["A", "B", "A"] {
                door.stage(&mut *world.conn().await, "p", &[draft(v)]).await.unwrap();
                if looks {
                    world.absorb().await;
                    assert_eq!(world.text(CONTEXT).await, v, "{door:?}");
                }
            }
            world.absorb().await;
            assert_eq!(world.text(CONTEXT).await, "A", "{door:?}");
            // In one call too, the last of it counts.
            door.stage(&mut *world.conn().await, "p", &[draft("A"), draft("B"), draft("A"), draft("C")])
                .await
                .unwrap();
            world.absorb().await;
            assert_eq!(world.text(CONTEXT).await, "C", "{door:?}");
        }
        let copies = "SELECT string_agg(context ->> 'v', '' ORDER BY job_id) FROM fairgate.staged_jobs";
        assert_eq!(
            world.text(copies).await,
            "ABAABAC".repeat(4),
            "each job keeps the copy that it came with"
        );
    }
}

#[tokio::test]
async fn an_older_context_that_commits_later_never_overwrites_a_newer() {
    for looks in [false, true] {
        let world = World::new(vec![open("p")]).await;
        let mut conn = world.db.connect().await;
        for (round, door) in DOORS.into_iter().enumerate() {
            let (old, new) = (format!("old {round}"), format!("new {round}"));
            let mut slow = conn.begin().await.unwrap();
            door.stage(&mut slow, "p", &[draft(&old)]).await.unwrap();
            door.stage(&mut *world.conn().await, "p", &[draft(&new)]).await.unwrap();
            if looks {
                world.absorb().await;
            }
            slow.commit().await.unwrap();
            world.absorb().await;
            assert_eq!(world.text(CONTEXT).await, new, "{door:?}");
        }
        world.audit().await;
    }
}

#[tokio::test]
async fn a_context_that_was_rolled_back_is_never_seen() {
    let world = World::new(vec![open("p")]).await;
    world.stage_with("p", "t", json!({ "v": "kept" })).await;
    let mut conn = world.db.connect().await;
    for door in DOORS {
        let mut tx = conn.begin().await.unwrap();
        door.stage(&mut tx, "p", &[draft("undone")]).await.unwrap();
        tx.rollback().await.unwrap();
        world.absorb().await;
        assert_eq!(world.text(CONTEXT).await, "kept", "{door:?}");
    }
}

#[tokio::test]
async fn a_changed_limit_acts_from_the_next_enqueue_without_draining_anything() {
    let p = policy("p").concurrency(|c| c.max_from("max", None)).build().expect("a policy");
    let mut world = World::new(vec![p]).await;
    for _ in 0..6 {
        world.stage_with("p", "t", json!({ "max": 1 })).await;
    }
    assert_eq!(world.settle().await, 1);
    world.stage_with("p", "t", json!({ "max": 4 })).await;
    assert_eq!(
        world.pass().await.ticks.jobs_admitted,
        3,
        "raised: the old jobs go under the new limit at once"
    );
    world.stage_with("p", "t", json!({ "max": 2 })).await;
    assert_eq!(world.settle().await, 0, "lowered: it drains");
    assert_eq!(world.complete("t", 2).await, 2);
    assert_eq!(world.settle().await, 0, "two are still in flight");
    assert_eq!(world.complete("t", 1).await, 1);
    assert_eq!(world.settle().await, 1);
    let limits =
        "SELECT string_agg(limits ->> 'concurrency', ',' ORDER BY admitted_at) FROM fairgate.inflight";
    assert_eq!(world.text(limits).await, "4,2", "each slot says which limit it was given under");
    world.audit().await;
}

#[tokio::test]
async fn queue_name_and_priority_are_added_for_templates_unless_the_user_set_them() {
    let templated = fairgate::Policy::builder("p").queue("main").partition_by("{queue_name}/{priority}");
    let world = World::new(vec![templated.build().expect("a policy")]).await;
    for door in DOORS {
        let added = Draft { priority: 7, queue_name: Some("mail".into()), ..Draft::new(r#"{"x":1}"#) };
        let set = Draft { context: r#"{"priority":"high","queue_name":9}"#.to_owned(), ..added.clone() };
        let answers = door.stage(&mut *world.conn().await, "p", &[added, set]).await.unwrap();
        let rows: Vec<(String, serde_json::Value, String, i32)> = sqlx::query_as(
            "SELECT partition_key, context, queue_name, priority FROM fairgate.staged_jobs WHERE job_id = ANY ($1) ORDER BY job_id",
        )
        .bind(answers.iter().map(|a| a.0).collect::<Vec<_>>())
        .fetch_all(world.pool())
        .await
        .unwrap();
        let copy = json!({ "x": 1, "priority": 7, "queue_name": "mail" });
        let own = json!({ "priority": "high", "queue_name": 9 });
        assert_eq!(rows[0], ("mail/7".to_owned(), copy, "mail".to_owned(), 7), "{door:?}");
        assert_eq!(rows[1], ("9/high".to_owned(), own, "mail".to_owned(), 7), "{door:?}");
    }
}

#[tokio::test]
async fn a_partitions_shard_is_pinned_when_it_is_first_written() {
    let mut world = World::new(vec![policy("p").shard_by("region").build().expect("a policy")]).await;
    for door in DOORS {
        let draft =
            |region: &str| Draft::new(json!({ "tenant": format!("{door:?}"), "region": region }).to_string());
        for region in ["eu", "us", "asia"] {
            door.stage(&mut *world.conn().await, "p", &[draft(region)]).await.unwrap();
        }
    }
    assert_eq!(world.settle().await, 12);
    assert_eq!(world.column("SELECT shard FROM fairgate.partitions").await, ["eu", "eu", "eu", "eu"]);
    assert_eq!(world.column("SELECT context ->> 'region' FROM fairgate.partitions").await, ["asia"; 4]);
}

#[tokio::test]
async fn a_limit_that_is_missing_or_no_number_denies_and_admits_once_it_is_one() {
    let p = policy("p").concurrency(|c| c.max_from("max", None)).build().expect("a policy");
    let mut world = World::new(vec![p, capped("other", 1.0)]).await;
    for bad in
        [json!({}), json!({ "max": -1 }), json!({ "max": "3" }), json!({ "max": [] }), json!({ "max": null })]
    {
        world.stage_with("p", "t", bad.clone()).await;
        world.stage("other", &bad.to_string(), 1).await;
        assert_eq!(world.settle().await, 1, "{bad}: the other policy alone");
        assert_eq!(
            world.text("SELECT denial FROM fairgate.partitions WHERE policy = 'p'").await,
            "bad_parameter"
        );
    }
    world.stage_with("p", "t", json!({ "max": 10 })).await;
    assert_eq!(world.settle().await, 6);
}
