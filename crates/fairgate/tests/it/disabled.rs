//! `enabled = false`, engine-wide and per policy: every door sends straight to the queue.

use fairgate::operate::{set_enabled, set_policy_enabled};
use fairgate::{Settings, StageError};
use fairgate_testkit::TestDb;
use sqlx::Acquire;

use crate::doors::{DOORS, Draft};
use crate::world::{World, capped, name, open, ticker};

async fn switch(world: &World, engine_wide: bool, enabled: bool) {
    let mut conn = world.conn().await;
    let changed = if engine_wide {
        set_enabled(&mut conn, enabled).await.expect("switched")
    } else {
        set_policy_enabled(&mut conn, &name("p"), enabled).await.expect("switched")
    };
    assert!(changed);
}

#[tokio::test]
async fn while_disabled_every_door_sends_straight_to_the_queue_unmarked_and_uncounted() {
    for engine_wide in [false, true] {
        let mut world = World::new(vec![capped("p", 1.0)]).await;
        let run_at = world.after_ms(3_600_000).await;
        switch(&world, engine_wide, false).await;
        for door in DOORS {
            let draft = Draft {
                payload: r#"{"b":1, "a":-0}"#.to_owned(),
                priority: -3,
                run_at: Some(run_at),
                max_attempts: Some(7),
                queue_name: Some("q".into()),
                ..Draft::of("t")
            };
            let answers = door.stage(&mut *world.conn().await, "p", &[draft, Draft::of("t")]).await.unwrap();
            assert!(answers.iter().all(|(_, outcome)| outcome == "sent"), "{door:?}: {answers:?}");
        }
        let sent = "SELECT json_build_array(t.identifier, j.payload, j.priority, j.max_attempts, j.attempts, j.flags, j.job_queue_id,
                                            extract(epoch FROM j.run_at - now()) > 3000)::text
                      FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id ORDER BY j.id";
        let (first, second) = (
            r#"["work", {"b":1, "a":-0}, -3, 7, 0, null, null, true]"#,
            r#"["work", {}, 0, 25, 0, null, null, false]"#,
        );
        assert_eq!(world.column(sent).await, [first, second].repeat(4));
        let ours = "SELECT (SELECT count(*) FROM fairgate.staged) + (SELECT count(*) FROM fairgate.delta)
                         + (SELECT count(*) FROM fairgate.in_flight) + (SELECT count(*) FROM fairgate.partition)";
        assert_eq!(world.number(ours).await, 0, "nothing is in flight, staged or reported");
        assert_eq!(
            world.execute("DELETE FROM graphile_worker._private_jobs").await,
            8,
            "and its end tells us nothing"
        );
        assert_eq!(world.number(ours).await, 0);
        assert_eq!(world.settle().await, 0);
    }
}

#[tokio::test]
async fn a_job_that_is_sent_while_disabled_belongs_to_the_callers_transaction() {
    let world = World::new(vec![open("p")]).await;
    switch(&world, false, false).await;
    let mut conn = world.db.connect().await;
    for door in DOORS {
        let mut tx = conn.begin().await.unwrap();
        door.stage(&mut tx, "p", &[Draft::of("t")]).await.unwrap();
        assert_eq!(world.queue_length().await, 0, "{door:?}");
        tx.rollback().await.unwrap();
        assert_eq!(world.queue_length().await, 0, "{door:?}");
    }
}

#[tokio::test]
async fn what_was_staged_stays_until_fairgate_is_enabled_again() {
    for engine_wide in [false, true] {
        let mut world = World::new(vec![open("p"), open("other")]).await;
        world.stage("p", "a", 3).await;
        world.stage("other", "a", 2).await;
        switch(&world, engine_wide, false).await;
        let others = if engine_wide { 0 } else { 2 };
        assert_eq!(world.settle().await, others, "admission stops where it is switched off, and there only");
        let waiting = "SELECT count(*) FROM fairgate.staged_jobs WHERE policy = 'p'";
        assert_eq!(world.number(waiting).await, 3);
        assert!(fairgate::cancel(&mut *world.conn().await, first_job(&world).await).await.unwrap());
        switch(&world, engine_wide, true).await;
        assert_eq!(world.settle().await, 4 - others);
        assert_eq!(world.number(waiting).await, 0);
        world.audit().await;
    }
}

async fn first_job(world: &World) -> fairgate::JobId {
    let sql = "SELECT job_id::text FROM fairgate.staged_jobs WHERE policy = 'p' ORDER BY job_id LIMIT 1";
    fairgate::JobId::from_uuid(world.text(sql).await.parse().expect("a uuid"))
}

#[tokio::test]
async fn jobs_that_were_in_flight_when_it_was_disabled_still_free_their_slots() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    world.stage("p", "a", 3).await;
    assert_eq!(world.settle().await, 2);
    switch(&world, true, false).await;
    assert_eq!(world.complete("a", 2).await, 2);
    assert_eq!(world.in_flight().await, 0);
    switch(&world, true, true).await;
    assert_eq!(world.settle().await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_policys_own_switch_and_the_engines_are_independent() {
    let world = World::new(vec![open("p"), open("other")]).await;
    let enabled = "SELECT string_agg(name || ' ' || enabled, ', ' ORDER BY name) FROM fairgate.policies";
    switch(&world, false, false).await;
    assert_eq!(world.text(enabled).await, "other true, p false");
    switch(&world, true, false).await;
    assert_eq!(world.text(enabled).await, "other false, p false");
    switch(&world, true, true).await;
    assert_eq!(world.text(enabled).await, "other true, p false");
    let again = set_policy_enabled(&mut *world.conn().await, &name("p"), false).await.unwrap();
    assert!(!again, "it was disabled already");
}

#[tokio::test]
async fn sending_to_a_queue_that_is_not_there_is_refused_with_the_reason_and_the_remedy() {
    let db = TestDb::without_queue().await;
    ticker(db.pool(), vec![open("p")], Settings::default()).await;
    let mut conn = db.connect().await;
    set_policy_enabled(&mut conn, &name("p"), false).await.unwrap();
    for door in DOORS {
        let error = door.stage(&mut conn, "p", &[Draft::of("a")]).await.unwrap_err();
        let StageError::QueueNotReady { message, hint } = &error else { panic!("{door:?}: {error:?}") };
        assert!(
            message.contains("queue \"main\", which is not ready: schema \"graphile_worker\""),
            "{message}"
        );
        assert!(hint.as_deref().unwrap_or_default().contains("fairgate apply"), "{hint:?}");
    }
}
