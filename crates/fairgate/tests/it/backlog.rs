//! `max_pending`: a partition takes so many waiting jobs and no more, exactly.

use fairgate::{NewJob, Outcome, Policy, StageError};
use sqlx::Connection;

use crate::world::{World, job, policy};

fn limited(jobs: u32) -> Policy {
    policy("p").max_pending(jobs).build().expect("a policy")
}

async fn stage(world: &World, job: &NewJob) -> Result<Outcome, StageError> {
    fairgate::stage(&mut *world.conn().await, "p", job).await.map(|staged| staged.outcome)
}

/// Count and limit of the refusal, if it was one.
fn refused<T>(result: Result<T, StageError>) -> Option<(String, i64, i64)> {
    match result {
        Ok(_) => None,
        Err(StageError::BacklogFull { partition, count, limit, .. }) => Some((partition, count, limit)),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn past_the_limit_staging_fails_with_partition_count_and_limit_and_others_are_untouched() {
    let world = World::new(vec![limited(3)]).await;
    for _ in 0..3 {
        stage(&world, &job("a")).await.unwrap();
    }
    let error = stage(&world, &job("a")).await.unwrap_err();
    assert_eq!(error.to_string(), "partition \"a\" of policy \"p\" has 3 waiting jobs, and max_pending is 3");
    assert!(error.hint().unwrap().contains("raise max_pending"));
    assert_eq!(refused(Err::<(), _>(error)), Some(("a".to_owned(), 3, 3)));
    stage(&world, &job("b")).await.unwrap();
    // Counted the same before and after the reports are folded in.
    world.absorb().await;
    assert_eq!(refused(stage(&world, &job("a")).await), Some(("a".to_owned(), 3, 3)));
    world.audit().await;
}

#[tokio::test]
async fn it_counts_scheduled_jobs_and_makes_room_at_once_for_a_cancel_or_an_admission() {
    let mut world = World::new(vec![limited(2)]).await;
    let later = job("a").run_at(world.after_ms(3_600_000).await);
    stage(&world, &later).await.unwrap();
    let one = fairgate::stage(&mut *world.conn().await, "p", &job("a")).await.unwrap();
    assert!(refused(stage(&world, &job("a")).await).is_some());
    assert!(fairgate::cancel(&mut *world.conn().await, one.job_id).await.unwrap());
    stage(&world, &job("a")).await.unwrap();
    assert!(refused(stage(&world, &job("a")).await).is_some());
    assert_eq!(world.settle().await, 1);
    stage(&world, &job("a")).await.unwrap();
    assert!(refused(stage(&world, &job("a")).await).is_some());
    world.audit().await;
}

#[tokio::test]
async fn a_bulk_call_that_would_go_past_it_leaves_nothing() {
    let world = World::new(vec![limited(5)]).await;
    world.stage("p", "a", 3).await;
    let jobs = [job("b"), job("a"), job("a"), job("a")];
    let bulk = fairgate::stage_many(&mut *world.conn().await, "p", &jobs).await;
    assert_eq!(refused(bulk), Some(("a".to_owned(), 3, 5)));
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 3);
    let sql = "SELECT count(*) FROM fairgate.stage_many('p', json_build_array(
        json_build_object('task', 'work', 'context', json_build_object('tenant', 'a')), json_build_object('task', 'work', 'context', json_build_object('tenant', 'a'))))";
    assert_eq!(world.number(sql).await, 2);
    let error = sqlx::query(sql).fetch_one(world.pool()).await.unwrap_err();
    assert_eq!(error.as_database_error().unwrap().code().as_deref(), Some("FG008"));
    world.absorb().await;
    world.audit().await;
}

#[tokio::test]
async fn it_never_refuses_while_fewer_are_committed_and_overshoots_only_by_open_transactions() {
    let world = World::new(vec![limited(2)]).await;
    stage(&world, &job("a")).await.unwrap();
    let mut other = world.db.connect().await;
    let mut open = other.begin().await.unwrap();
    fairgate::stage(&mut open, "p", &job("a")).await.unwrap();
    // One is committed, one is not: there is room.
    stage(&world, &job("a")).await.unwrap();
    assert!(refused(stage(&world, &job("a")).await).is_some());
    // Its own transaction counts too.
    let own = open.begin().await.unwrap();
    own.rollback().await.unwrap();
    assert!(refused(fairgate::stage(&mut open, "p", &job("a")).await).is_some());
    drop(open);
    drop(other);
    assert!(refused(stage(&world, &job("a")).await).is_some());
    world.absorb().await;
    world.audit().await;
}

#[tokio::test]
async fn a_job_that_is_kept_out_by_its_key_does_not_count() {
    let world = World::new(vec![limited(1)]).await;
    let keyed = job("a").dedupe_key("k");
    assert_eq!(stage(&world, &keyed).await.unwrap(), Outcome::Staged);
    assert_eq!(stage(&world, &keyed).await.unwrap(), Outcome::Kept);
    assert!(refused(stage(&world, &job("a").dedupe_key("other")).await).is_some());
    assert_eq!(world.number("SELECT count(*) FROM fairgate.dedupe").await, 1, "a refused job leaves no key");
}
