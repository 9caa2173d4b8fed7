//! Quarantined jobs: listed, put back into staging, dropped.

use fairgate::quarantine::{QuarantineError, drop, list, restage};
use fairgate::{JobId, Settings};
use serde_json::json;

use crate::wait::until_sql;
use crate::world::{World, capped, job, name, open, policy, queued};

/// A world in which jobs of `p` and `q` with the payload "poison" have been refused for good.
async fn with_quarantined(jobs: usize) -> (World, Vec<JobId>) {
    let settings = Settings { max_forward_attempts: 1, ..Settings::default() };
    let mut world = World::with(vec![open("p"), capped("q", 1.0)], settings).await;
    world
        .execute(
            "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END $$;
             CREATE TRIGGER refuse BEFORE INSERT ON graphile_worker._private_jobs FOR EACH ROW
               WHEN (NEW.payload::text = '\"poison\"') EXECUTE FUNCTION public.refuse()",
        )
        .await;
    let poison =
        job("t").payload("poison").expect("a payload").priority(4).max_attempts(9).queue_name("lane");
    let ids = world.stage_jobs("p", &vec![poison.clone(); jobs]).await.iter().map(|s| s.job_id).collect();
    world.settle().await;
    assert_eq!(world.number("SELECT count(*) FROM fairgate.quarantine").await, jobs as i64);
    (world, ids)
}

const WHOLE: &str = "SELECT json_build_array(job_id, policy, partition_key, task, priority, run_at, staged_at, max_attempts, queue_name, payload, context)::text";

#[tokio::test]
async fn a_restaged_job_is_what_it_was_and_is_tried_and_counted_anew() {
    let (mut world, ids) = with_quarantined(2).await;
    let before = world.column(&format!("{WHOLE} FROM fairgate.quarantine ORDER BY job_id")).await;
    let done = restage(&mut *world.conn().await, &ids).await.unwrap();
    assert_eq!(done.len(), 2);
    assert_eq!(world.column(&format!("{WHOLE} FROM fairgate.staged_jobs ORDER BY job_id")).await, before);
    world.audit().await;
    let fresh = "SELECT count(DISTINCT admission_id) FROM fairgate.staged WHERE forward_attempts = 0 AND forward_error IS NULL";
    assert_eq!(world.number(fresh).await, 2);
    assert_eq!(world.settle().await, 0);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.quarantine").await, 2, "refused again");
    restage(&mut *world.conn().await, &ids).await.unwrap();
    world.execute("DROP TRIGGER refuse ON graphile_worker._private_jobs").await;
    assert_eq!(world.settle().await, 2);
    assert_eq!(queued(&mut *world.conn().await, "t").await, 2);
    world.audit().await;
}

#[tokio::test]
async fn a_restaged_job_brings_back_its_removed_partition_and_never_an_old_context() {
    let (mut world, ids) = with_quarantined(2).await;
    let removing = Settings { partition_inactive_after: std::time::Duration::ZERO, ..Settings::default() };
    let later = world.after_ms(1_000).await;
    world.absorb().await;
    world.sweep_at(&removing, later).await;
    until_sql(
        world.pool(),
        "SELECT coalesce(max(removing), '1') < pg_snapshot_xmin(pg_current_snapshot()) FROM fairgate.partition_state",
    )
    .await;
    world.sweep_at(&removing, later).await;
    assert_eq!(world.number("SELECT count(*) FROM fairgate.partition").await, 0);
    world.execute("DROP TRIGGER refuse ON graphile_worker._private_jobs").await;
    restage(&mut *world.conn().await, &ids[..1]).await.unwrap();
    assert_eq!(world.settle().await, 1);
    world.audit().await;
    world.stage_with("p", "t", json!({ "newer": true })).await;
    world.absorb().await;
    restage(&mut *world.conn().await, &ids[1..]).await.unwrap();
    world.absorb().await;
    assert_eq!(world.text("SELECT context ->> 'newer' FROM fairgate.partitions").await, "true");
    world.audit().await;
}

#[tokio::test]
async fn jobs_of_a_retired_policy_are_not_restaged_and_nothing_else_is() {
    let (world, ids) = with_quarantined(2).await;
    world.execute("UPDATE fairgate.policy SET retired = true WHERE name = 'p'").await;
    let mut conn = world.db.connect().await;
    let error = restage(&mut conn, &ids).await.unwrap_err();
    assert!(matches!(&error, QuarantineError::Retired { policy } if policy == "p"), "{error}");
    assert_eq!(list(&mut conn, Some(&name("p"))).await.unwrap().len(), 2);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 0);
}

#[tokio::test]
async fn a_dropped_job_is_gone_and_those_that_are_not_there_are_left_out() {
    let (world, ids) = with_quarantined(2).await;
    let mut conn = world.conn().await;
    let unknown: JobId = "0198c2a4-7d1e-7000-8000-00000000002a".parse().expect("an id");
    assert_eq!(drop(&mut conn, &[ids[0], unknown]).await.unwrap(), [ids[0]]);
    assert_eq!(restage(&mut conn, &[ids[0], unknown]).await.unwrap(), []);
    let left = list(&mut conn, None).await.unwrap();
    assert_eq!(left.iter().map(|job| (job.job_id, job.error.as_str())).collect::<Vec<_>>(), [(ids[1], "no")]);
    assert_eq!(list(&mut conn, Some(&name("q"))).await.unwrap().len(), 0);
    std::mem::drop(conn);
    world.audit().await;
}

#[tokio::test]
async fn a_restaged_job_whose_partition_is_gone_goes_to_the_shard_that_its_context_says() {
    let p = policy("p").shard_by("region").build().expect("a policy");
    let world = World::new(vec![p]).await;
    let id = world.stage_with("p", "t", json!({ "region": "eu" })).await.job_id;
    world
        .execute(
            "INSERT INTO fairgate.quarantined (job_id, partition_id, policy_id, partition_key, priority, staged_at, task, payload, context, forward_attempts, error,
                    quarantined_at)
             SELECT job_id, partition_id, policy_id, partition_key, priority, staged_at, task, payload, context, 5, 'no', now() FROM fairgate.staged;
             TRUNCATE fairgate.staged, fairgate.delta",
        )
        .await;
    restage(&mut *world.conn().await, &[id]).await.unwrap();
    world.absorb().await;
    assert_eq!(world.text("SELECT shard || ' ' || pending FROM fairgate.partitions").await, "eu 1");
    world.audit().await;
}
