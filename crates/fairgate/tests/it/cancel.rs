//! Taking a job back while it waits here.

use fairgate::JobId;
use sqlx::{Acquire, PgConnection};
use uuid::Uuid;

use crate::wait::{close_the_gate, gate_the_queue, open_the_gate, pid, until_it_waits, until_somebody_waits};
use crate::world::{World, capped, job, open, queued};

async fn cancel_in_sql(conn: &mut PgConnection, job: JobId) -> bool {
    sqlx::query_scalar("SELECT fairgate.cancel($1)")
        .bind(job.as_uuid())
        .fetch_one(conn)
        .await
        .expect("cancelled")
}

#[tokio::test]
async fn a_waiting_job_is_cancelled_once_and_never_admitted() {
    let mut world = World::new(vec![open("p")]).await;
    let later = world.after_ms(60_000).await;
    let jobs: Vec<_> = [job("a"), job("a"), job("a").run_at(later), job("a").run_at(later), job("a")].into();
    let staged = world.stage_jobs("p", &jobs).await;
    let mut conn = world.db.connect().await;
    // Before and after their reports were folded in, ready and scheduled.
    assert!(fairgate::cancel(&mut conn, staged[0].job_id).await.unwrap());
    assert!(cancel_in_sql(&mut conn, staged[2].job_id).await);
    world.audit().await;
    world.absorb().await;
    assert!(cancel_in_sql(&mut conn, staged[1].job_id).await);
    assert!(fairgate::cancel(&mut conn, staged[3].job_id).await.unwrap());
    for gone in &staged[..4] {
        assert!(!fairgate::cancel(&mut conn, gone.job_id).await.unwrap());
        assert!(!cancel_in_sql(&mut conn, gone.job_id).await);
    }
    world.audit().await;
    assert_eq!(world.pass_at(later).await.ticks.jobs_admitted, 1);
    assert_eq!(queued(&mut *world.conn().await, "a").await, 1);
    world.audit().await;
}

#[tokio::test]
async fn an_admitted_or_unknown_job_is_not_cancelled() {
    let mut world = World::new(vec![open("p")]).await;
    let staged = world.stage("p", "a", 1).await;
    world.settle().await;
    let mut conn = world.db.connect().await;
    assert!(!fairgate::cancel(&mut conn, staged[0].job_id).await.unwrap());
    assert!(!cancel_in_sql(&mut conn, JobId::from_uuid(Uuid::new_v4())).await);
    assert_eq!(queued(&mut conn, "a").await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_cancel_that_is_rolled_back_leaves_the_job() {
    let mut world = World::new(vec![open("p")]).await;
    let staged = world.stage("p", "a", 2).await;
    let mut conn = world.db.connect().await;
    let mut tx = conn.begin().await.unwrap();
    assert!(fairgate::cancel(&mut tx, staged[0].job_id).await.unwrap());
    assert_eq!(world.pass().await.ticks.jobs_admitted, 1, "the tick leaves out what another holds");
    tx.rollback().await.unwrap();
    let later = world.after_ms(1_000).await;
    assert_eq!(world.admitted_at(later).await, 1, "and finds it afterwards by itself");
    world.audit().await;
}

#[tokio::test]
async fn the_last_cancel_leaves_nothing_to_look_at() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    let staged = world.stage("p", "a", 2).await;
    world.settle().await;
    assert!(fairgate::cancel(&mut *world.conn().await, staged[1].job_id).await.unwrap());
    world.absorb().await;
    assert_eq!(
        world.number("SELECT count(*) FROM fairgate.partitions WHERE due_at IS NULL AND pending = 0").await,
        1
    );
}

/// A tick has taken the job and not committed; a cancel comes. Returns what the cancel says when the tick has ended.
async fn cancel_during_a_tick(world: &mut World, tick_commits: bool) -> bool {
    gate_the_queue(world.pool()).await;
    let mut gate = world.db.connect().await;
    close_the_gate(&mut gate).await;
    let staged = world.stage("p", "a", 1).await[0].job_id;
    let (pool, ticker) = (world.pool().clone(), &mut world.ticker);
    let tick = async {
        let mut conn = pool.acquire().await.expect("a connection");
        ticker.pass(&mut conn, None, None).await.map(|pass| pass.ticks.jobs_admitted)
    };
    let cancel = async {
        let ticking = until_somebody_waits(&pool).await;
        let mut conn = pool.acquire().await.expect("a connection");
        let cancelling = pid(&mut conn).await;
        let answer =
            tokio::spawn(async move { fairgate::cancel(&mut conn, staged).await.expect("an answer") });
        until_it_waits(&pool, cancelling).await;
        if !tick_commits {
            sqlx::query("SELECT pg_terminate_backend($1)")
                .bind(ticking)
                .execute(&pool)
                .await
                .expect("terminated");
        }
        open_the_gate(&mut gate).await;
        answer.await.expect("no panic")
    };
    let (admitted, cancelled) = tokio::join!(tick, cancel);
    assert_eq!(admitted.ok(), tick_commits.then_some(1));
    cancelled
}

#[tokio::test]
async fn a_cancel_waits_for_the_tick_that_holds_the_job_and_comes_too_late() {
    let mut world = World::new(vec![open("p")]).await;
    assert!(!cancel_during_a_tick(&mut world, true).await);
    assert_eq!(queued(&mut *world.conn().await, "a").await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_cancel_waits_for_the_tick_that_holds_the_job_and_wins_if_that_fails() {
    let mut world = World::new(vec![open("p")]).await;
    assert!(cancel_during_a_tick(&mut world, false).await);
    assert_eq!(world.settle().await, 0);
    assert_eq!(queued(&mut *world.conn().await, "a").await, 0);
    world.audit().await;
}
