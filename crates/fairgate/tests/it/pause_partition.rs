//! Pause and resume of one partition.

use chrono::TimeDelta;
use fairgate::operate::{OperateError, pause_partition, resume_partition};
use fairgate::{PartitionKey, Settings};

use crate::wait::{
    close_the_gate, gate_the_queue, open_the_gate, pid, until_it_waits, until_somebody_waits, until_sql,
};
use crate::world::{World, capped, job, name, open, policy, ticker};

fn key(text: &str) -> PartitionKey {
    text.parse().expect("a key")
}

#[tokio::test]
async fn a_paused_partition_admits_nothing_and_holds_up_none_of_the_others() {
    let mut world = World::new(vec![open("p")]).await;
    let run_at = world.after_ms(5_000).await;
    world.stage("p", "held", 2).await;
    world.stage_jobs("p", &[job("held").run_at(run_at)]).await;
    let mut conn = world.db.connect().await;
    assert!(pause_partition(&mut conn, &name("p"), &key("held")).await.unwrap(), "known from reports alone");
    assert!(!pause_partition(&mut conn, &name("p"), &key("held")).await.unwrap(), "it was paused already");
    world.stage("p", "held", 1).await;
    world.stage("p", "other", 3).await;
    assert_eq!(world.settle().await, 3, "the other partition alone; staging went on");
    let late = run_at + TimeDelta::seconds(1);
    assert_eq!(world.admitted_at(late).await, 0, "scheduled jobs are held, too");
    world.audit().await;
    assert!(resume_partition(&mut conn, &name("p"), &key("held")).await.unwrap());
    assert!(!resume_partition(&mut conn, &name("p"), &key("held")).await.unwrap());
    assert_eq!(world.admitted_at(late).await, 4);
    world.audit().await;
}

#[tokio::test]
async fn pausing_a_partition_waits_for_the_tick_that_holds_it() {
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
        let done =
            tokio::spawn(
                async move { pause_partition(&mut operator, &name("p"), &key("a")).await.map(drop) },
            );
        until_it_waits(&pool, operating).await;
        open_the_gate(&mut gate).await;
        done.await.expect("no panic").expect("paused");
        let seen = "SELECT count(*) FROM fairgate.in_flight";
        sqlx::query_scalar::<_, i64>(seen).fetch_one(&pool).await.expect("a count")
    };
    let (pass, seen) = tokio::join!(ticker.pass(&mut conn, None, None), operate);
    assert_eq!((pass.unwrap().ticks.jobs_admitted, seen), (2, 2), "it returned after that tick");
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 0);
    world.audit().await;
}

#[tokio::test]
async fn a_paused_partition_is_never_removed_and_stays_paused() {
    let mut world = World::new(vec![open("p")]).await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 1);
    world.complete("a", 1).await;
    world.absorb().await;
    let settings = Settings::default();
    let later = world.after_ms(48 * 3_600_000).await;
    assert_eq!(world.sweep_at(&settings, later).await.marked, 1);
    pause_partition(&mut *world.conn().await, &name("p"), &key("a")).await.unwrap();
    for _ in 0..3 {
        let swept = world.sweep_at(&settings, later).await;
        assert_eq!((swept.marked, swept.removed), (0, 0));
    }
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 0);
}

#[tokio::test]
async fn a_partition_that_is_resumed_is_not_looked_at_before_its_gates_say_so() {
    let hour = std::time::Duration::from_secs(3_600);
    let p = policy("p").throttle(|t| t.rate(1.0).per(hour)).build().expect("a policy");
    let mut world = World::new(vec![p, capped("q", 1.0)]).await;
    world.stage("p", "a", 2).await;
    world.stage("q", "a", 2).await;
    let now = world.after_ms(0).await;
    assert_eq!(world.admitted_at(now).await, 2);
    let mut conn = world.conn().await;
    for policy in ["p", "q"] {
        pause_partition(&mut conn, &name(policy), &key("a")).await.unwrap();
        resume_partition(&mut conn, &name(policy), &key("a")).await.unwrap();
    }
    drop(conn);
    let due = "SELECT string_agg(policy || ' ' || (due_at <= clock_timestamp()), ', ' ORDER BY policy) FROM fairgate.partitions";
    assert_eq!(world.text(due).await, "p false, q true");
}

#[tokio::test]
async fn pausing_a_partition_that_does_not_exist_says_so() {
    let world = World::new(vec![open("p")]).await;
    let error = pause_partition(&mut *world.conn().await, &name("p"), &key("nobody")).await.unwrap_err();
    assert!(matches!(error, OperateError::UnknownPartition { .. }), "{error}");
    assert!(error.to_string().contains("\"nobody\""), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beside_several_busy_tickers_nothing_of_a_paused_partition_is_admitted() {
    let world = World::new(vec![open("p")]).await;
    // At every admission, in its own transaction: is the partition paused?
    world
        .execute(
            "CREATE TABLE public.violation (admission uuid);
             CREATE FUNCTION public.judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               INSERT INTO public.violation SELECT NEW.admission_id FROM fairgate.partition_state s WHERE s.id = NEW.partition_id AND s.paused; RETURN NULL; END $$;
             CREATE TRIGGER judge AFTER INSERT ON fairgate.in_flight FOR EACH ROW EXECUTE FUNCTION public.judge()",
        )
        .await;
    for n in 0..4 {
        world.stage("p", &format!("t{n}"), 150).await;
    }
    let (stop, _) = tokio::sync::broadcast::channel::<()>(1);
    let mut tickers = tokio::task::JoinSet::new();
    let settings = Settings {
        partition_batch_size: 2,
        admission_batch_size: 1,
        idle_pause: std::time::Duration::from_millis(1),
        ..Settings::default()
    };
    for _ in 0..3 {
        let mut stopped = stop.subscribe();
        tickers.spawn(
            ticker(world.pool(), vec![], settings.clone()).await.run(async move { _ = stopped.recv().await }),
        );
    }
    let mut operator = world.db.connect().await;
    let gone = "SELECT count(*) FROM fairgate.inflight WHERE partition_key = 't0'";
    while world.number("SELECT count(*) FROM fairgate.staged").await > 0 {
        assert!(pause_partition(&mut operator, &name("p"), &key("t0")).await.unwrap());
        let paused = world.number(gone).await;
        assert_eq!(world.number(gone).await, paused);
        resume_partition(&mut operator, &name("p"), &key("t0")).await.unwrap();
        let on = format!("SELECT ({gone}) > {paused} OR ({gone}) = 150");
        until_sql(world.pool(), &on).await;
    }
    stop.send(()).expect("they listen");
    while let Some(ended) = tickers.join_next().await {
        ended.expect("no panic").expect("a ticker that ran");
    }
    assert_eq!(world.number("SELECT count(*) FROM public.violation").await, 0);
    assert_eq!(world.in_flight().await, 600);
    world.audit().await;
}
