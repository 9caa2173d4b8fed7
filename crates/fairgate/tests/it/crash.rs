//! Errors and kills in the middle of a tick: everything is as it was, and the next tick goes on.

use crate::wait::{close_the_gate, gate_the_queue, open_the_gate, until_somebody_waits};
use crate::world::{World, capped, open, queued};

/// From here on the queue's table refuses every insert with this SQLSTATE.
async fn break_the_queue(world: &World, sqlstate: &str) {
    let sql = format!(
        "CREATE OR REPLACE FUNCTION public.broken() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'broken on purpose' USING ERRCODE = '{sqlstate}'; END $$;
         CREATE OR REPLACE TRIGGER broken AFTER INSERT ON graphile_worker._private_jobs FOR EACH ROW EXECUTE FUNCTION public.broken()"
    );
    world.execute(&sql).await;
}

#[tokio::test]
async fn an_error_in_the_queues_insert_leaves_everything_as_it_was() {
    let mut world = World::new(vec![capped("p", 3.0)]).await;
    world.stage("p", "a", 5).await;
    world.stage("p", "b", 5).await;
    world.absorb().await;
    let before = world.everything().await;
    // Shutting down, out of memory, deadlock: the server's fault, so nothing is blamed on a job.
    for sqlstate in ["57P01", "53200", "40P01"] {
        break_the_queue(&world, sqlstate).await;
        let mut conn = world.db.connect().await;
        let error = world.ticker.pass(&mut conn, None, None).await.unwrap_err();
        assert!(error.to_string().contains("broken on purpose"), "{error}");
        assert_eq!(world.everything().await, before, "{sqlstate}");
    }
    world.execute("DROP TRIGGER broken ON graphile_worker._private_jobs").await;
    assert_eq!(world.settle().await, 6);
    world.audit().await;
}

#[tokio::test]
async fn a_queue_that_refuses_as_a_whole_leaves_everything_as_it_was_and_blames_no_job() {
    let mut world = World::new(vec![open("p")]).await;
    world.stage("p", "a", 5).await;
    world.absorb().await;
    let before = world.everything().await;
    break_the_queue(&world, "42501").await;
    let pass = world.pass().await;
    assert_eq!((pass.lanes, pass.ticks.jobs_admitted, pass.ticks.failures), (0, 0, 0));
    assert_eq!(world.everything().await, before);
    let said = "SELECT not_ready_reason FROM fairgate.queue WHERE NOT ready";
    assert_eq!(world.column(said).await, ["its tables refused a hand-over: broken on purpose"]);
    assert_eq!(world.pass().await.lanes, 0, "and it is left alone until it is found to fit again");
}

/// Runs a pass whose connection is killed while the queue's insert waits.
async fn killed_in_the_middle(world: &mut World) {
    gate_the_queue(world.pool()).await;
    let mut gate = world.db.connect().await;
    close_the_gate(&mut gate).await;
    let pool = world.pool().clone();
    let mut conn = world.db.connect().await;
    let kill = async {
        let ticking = until_somebody_waits(&pool).await;
        sqlx::query("SELECT pg_terminate_backend($1)")
            .bind(ticking)
            .execute(&pool)
            .await
            .expect("terminated");
    };
    let (pass, ()) = tokio::join!(world.ticker.pass(&mut conn, None, None), kill);
    pass.expect_err("the connection is gone");
    open_the_gate(&mut gate).await;
}

#[tokio::test]
async fn a_ticker_killed_between_claim_and_commit_leaves_everything_as_it_was() {
    let mut world = World::new(vec![capped("p", 3.0)]).await;
    world.stage("p", "a", 5).await;
    world.stage("p", "b", 2).await;
    world.absorb().await;
    let before = world.everything().await;
    killed_in_the_middle(&mut world).await;
    assert_eq!(world.everything().await, before);
    assert_eq!(world.settle().await, 5, "and holds nobody up");
    let mut conn = world.conn().await;
    assert_eq!((queued(&mut conn, "a").await, queued(&mut conn, "b").await), (3, 2));
    drop(conn);
    world.audit().await;
}

#[tokio::test]
async fn while_a_tick_is_not_committed_nothing_of_it_is_seen() {
    let mut world = World::new(vec![open("p")]).await;
    gate_the_queue(world.pool()).await;
    let mut gate = world.db.connect().await;
    close_the_gate(&mut gate).await;
    world.stage("p", "a", 5).await;
    world.absorb().await;
    let before = world.everything().await;
    let mut conn = world.db.connect().await;
    let pool = world.pool().clone();
    let (db, ticker) = (&world.db, &mut world.ticker);
    let watch = async {
        until_somebody_waits(&pool).await;
        let mut other = db.connect().await;
        let seen: String =
            sqlx::query_scalar(include_str!("everything.sql")).fetch_one(&mut other).await.expect("rows");
        open_the_gate(&mut gate).await;
        seen
    };
    let (pass, seen) = tokio::join!(ticker.pass(&mut conn, None, None), watch);
    assert_eq!(seen, before);
    assert_eq!(pass.unwrap().ticks.jobs_admitted, 5);
    world.audit().await;
}

#[tokio::test]
async fn a_queue_whose_table_somebody_holds_does_not_hold_up_the_other_queues() {
    let mut world = World::new(vec![open("p")]).await;
    world.stage("p", "a", 3).await;
    // Policy "other" goes to a queue of its own, in another schema.
    let other = crate::world::second_queue(&world).await;
    world.ticker = other;
    world.stage("other", "b", 2).await;
    let mut holder = world.db.connect().await;
    let mut tx = sqlx::Connection::begin(&mut holder).await.unwrap();
    sqlx::query("LOCK TABLE graphile_worker._private_jobs IN ACCESS EXCLUSIVE MODE")
        .execute(&mut *tx)
        .await
        .unwrap();
    let report = world.pass().await;
    assert_eq!((report.ticks.jobs_admitted, report.failed.len()), (2, 1));
    tx.rollback().await.unwrap();
    assert_eq!(world.settle().await, 3);
    world.audit().await;
}
