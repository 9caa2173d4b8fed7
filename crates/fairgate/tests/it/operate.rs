//! Pause and resume: once `pause` returns, no tick admits.

use std::time::Duration;

use fairgate::Settings;
use fairgate::operate::{OperateError, pause, resume, set_enabled, set_policy_enabled};

use crate::wait::{
    close_the_gate, gate_the_queue, open_the_gate, pid, until_it_waits, until_somebody_waits, until_sql,
};
use crate::world::{World, capped, job, name, open, queued, ticker};

#[tokio::test]
async fn a_paused_policy_admits_nothing_also_of_partitions_and_jobs_that_come_later() {
    let mut world = World::new(vec![open("p"), open("q")]).await;
    let run_at = world.after_ms(5_000).await;
    world.stage("p", "before", 2).await;
    world.stage_jobs("p", &[job("scheduled").run_at(run_at)]).await;
    world.absorb().await;
    let mut conn = world.db.connect().await;
    assert!(pause(&mut conn, &name("p")).await.unwrap());
    assert!(!pause(&mut conn, &name("p")).await.unwrap(), "it was paused already");
    world.stage("p", "before", 1).await;
    world.stage("p", "later", 1).await;
    world.stage("q", "other", 1).await;
    assert_eq!(world.settle().await, 1, "the other policy alone; staging went on");
    let late = run_at + chrono::TimeDelta::seconds(1);
    assert_eq!(world.admitted_at(late).await, 0, "scheduled jobs are held, too");
    world.audit().await;
    assert!(resume(&mut conn, &name("p")).await.unwrap());
    assert!(!resume(&mut conn, &name("p")).await.unwrap());
    assert_eq!(world.admitted_at(late).await, 5);
    assert_eq!(queued(&mut conn, "scheduled").await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_pause_survives_a_new_ticker_and_a_new_definition() {
    let mut world = World::new(vec![open("p")]).await;
    pause(&mut *world.conn().await, &name("p")).await.unwrap();
    world.stage("p", "a", 2).await;
    world.ticker = ticker(world.pool(), vec![capped("p", 1.0)], Settings::default()).await;
    assert_eq!(world.text("SELECT revision || ' ' || paused FROM fairgate.policies").await, "2 true");
    assert_eq!(world.settle().await, 0);
    resume(&mut *world.conn().await, &name("p")).await.unwrap();
    assert_eq!(world.settle().await, 1, "under the new definition");
}

#[tokio::test]
async fn pausing_and_disabling_wait_for_the_tick_that_has_begun_and_for_no_other() {
    for operation in ["pause", "disable the policy", "disable everything"] {
        let mut world = World::new(vec![open("p")]).await;
        gate_the_queue(world.pool()).await;
        let mut gate = world.db.connect().await;
        close_the_gate(&mut gate).await;
        world.stage("p", "a", 2).await;
        let pool = world.pool().clone();
        let (db, ticker) = (&world.db, &mut world.ticker);
        let mut conn = db.connect().await;
        let operate = async {
            until_somebody_waits(&pool).await;
            let mut operator = db.connect().await;
            let operating = pid(&mut operator).await;
            let done = tokio::spawn(async move {
                match operation {
                    "pause" => pause(&mut operator, &name("p")).await.map(drop),
                    "disable the policy" => {
                        set_policy_enabled(&mut operator, &name("p"), false).await.map(drop)
                    }
                    _ => set_enabled(&mut operator, false).await.map(drop).map_err(OperateError::Database),
                }
            });
            until_it_waits(&pool, operating).await;
            open_the_gate(&mut gate).await;
            done.await.expect("no panic").expect("done");
            let seen = "SELECT count(*) FROM fairgate.in_flight";
            sqlx::query_scalar::<_, i64>(seen).fetch_one(&pool).await.expect("a count")
        };
        let (pass, seen) = tokio::join!(ticker.pass(&mut conn, None, None), operate);
        assert_eq!((pass.unwrap().ticks.jobs_admitted, seen), (2, 2), "{operation} returned after that tick");
        if operation == "pause" {
            world.stage("p", "a", 1).await;
            assert_eq!(world.settle().await, 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beside_several_busy_tickers_nothing_is_admitted_while_the_policy_is_paused() {
    let world = World::new(vec![open("p")]).await;
    // At every admission, in its own transaction: is the policy paused?
    world
        .execute(
            "CREATE TABLE public.violation (admission uuid);
             CREATE FUNCTION public.judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               INSERT INTO public.violation SELECT NEW.admission_id FROM fairgate.policy p WHERE p.id = NEW.policy_id AND p.paused; RETURN NULL; END $$;
             CREATE TRIGGER judge AFTER INSERT ON fairgate.in_flight FOR EACH ROW EXECUTE FUNCTION public.judge()",
        )
        .await;
    for n in 0..40 {
        world.stage("p", &format!("t{n}"), 40).await;
    }
    let (stop, _) = tokio::sync::broadcast::channel::<()>(1);
    let mut tickers = tokio::task::JoinSet::new();
    let settings = Settings {
        partition_batch_size: 3,
        admission_batch_size: 2,
        idle_pause: Duration::from_millis(1),
        ..Settings::default()
    };
    for _ in 0..4 {
        let mut stopped = stop.subscribe();
        tickers.spawn(
            ticker(world.pool(), vec![], settings.clone()).await.run(async move { _ = stopped.recv().await }),
        );
    }
    let mut operator = world.db.connect().await;
    let mut last = 0;
    while world.number("SELECT count(*) FROM fairgate.staged").await > 0 {
        assert!(pause(&mut operator, &name("p")).await.unwrap());
        let paused = world.in_flight().await;
        assert_eq!(world.in_flight().await, paused);
        resume(&mut operator, &name("p")).await.unwrap();
        until_sql(
            world.pool(),
            &format!("SELECT count(*) > {paused} OR count(*) = 1600 FROM fairgate.in_flight"),
        )
        .await;
        assert!(paused > last || paused == 1_600 || last == 0, "they go on after each pause");
        last = paused;
    }
    stop.send(()).expect("they listen");
    while let Some(ended) = tickers.join_next().await {
        ended.expect("no panic").expect("a ticker that ran");
    }
    assert_eq!(world.number("SELECT count(*) FROM public.violation").await, 0);
    assert_eq!(world.in_flight().await, 1_600);
    world.audit().await;
}

#[tokio::test]
async fn an_unknown_policy_is_named_with_the_nearest_that_is_known() {
    let world = World::new(vec![open("webhooks"), open("mails")]).await;
    let mut conn = world.conn().await;
    let error = pause(&mut conn, &name("webhook")).await.unwrap_err();
    assert_eq!(error.to_string(), "policy \"webhook\" is not registered; did you mean \"webhooks\"?");
    let error = resume(&mut conn, &name("zzz")).await.unwrap_err();
    assert_eq!(error.to_string(), "policy \"zzz\" is not registered; registered: mails, webhooks");
}
