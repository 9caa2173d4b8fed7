//! Admission: the order, the marks, the slots; a bounded number of statements.

use std::time::Duration;

use fairgate::Settings;

use crate::statements::Statements;
use crate::world::{World, capped, job, open, policy, queued};

#[tokio::test]
async fn a_cap_admits_no_more_than_max_and_a_finish_frees_one_slot() {
    let mut world = World::new(vec![capped("p", 3.0)]).await;
    world.stage("p", "a", 10).await;
    assert_eq!(world.settle().await, 3);
    assert_eq!(queued(&mut *world.conn().await, "a").await, 3);
    world.audit().await;

    assert_eq!(world.complete("a", 1).await, 1);
    world.audit().await;
    assert_eq!(world.settle().await, 1);
    assert_eq!(world.in_flight().await, 3);
    world.audit().await;
}

#[tokio::test]
async fn jobs_go_by_priority_then_by_ready_time_then_by_id() {
    let mut world = World::new(vec![capped("p", 2.0)]).await;
    let past = |world: &World, ms| {
        let pool = world.pool().clone();
        async move {
            let now: chrono::DateTime<chrono::Utc> =
                sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(&pool).await.expect("the time");
            now - chrono::TimeDelta::milliseconds(ms)
        }
    };
    let (early, earlier) = (past(&world, 60_000).await, past(&world, 90_000).await);
    let named = |name: &str| job("t").payload(name).expect("a payload");
    let jobs = [
        named("6 staged first"),
        named("8 least urgent").priority(10),
        named("3 most urgent").priority(-10),
        named("5 ready early").run_at(early),
        named("4 ready earlier").run_at(earlier),
        named("7 staged later"),
        named("1 ready early, most urgent").priority(-10).run_at(earlier),
        named("2 ready early, most urgent, later id").priority(-10).run_at(earlier),
    ];
    world.stage_jobs("p", &jobs).await;
    // Two at a time, so that the order holds over several ticks.
    for _ in 0..4 {
        assert_eq!(world.pass().await.ticks.jobs_admitted, 2);
        world.execute("UPDATE graphile_worker._private_jobs SET flags = NULL; DELETE FROM fairgate.in_flight; UPDATE fairgate.partition_state SET in_flight = 0, due_at = now()").await;
    }
    let order = world.column("SELECT payload #>> '{}' FROM graphile_worker._private_jobs ORDER BY id").await;
    assert_eq!(order.len(), 8);
    assert!(order.is_sorted(), "{order:?}");
}

#[tokio::test]
async fn a_scheduled_job_that_came_due_goes_by_its_run_at_among_those_staged_before_and_after() {
    let mut world = World::new(vec![open("p")]).await;
    let named = |name: &str| job("t").payload(name).expect("a payload");
    let (middle, late) = (world.after_ms(600_000).await, world.after_ms(900_000).await);
    world.stage_jobs("p", &[named("3").run_at(late), named("2").run_at(middle), named("1")]).await;
    assert_eq!(world.admitted_at(late).await, 3);
    let order = "SELECT payload #>> '{}' FROM graphile_worker._private_jobs ORDER BY id";
    assert_eq!(world.column(order).await, ["1", "2", "3"]);
}

#[tokio::test]
async fn the_queues_job_carries_our_ids_and_our_row_carries_the_queues() {
    let mut world = World::new(vec![open("p")]).await;
    let staged = world
        .stage_jobs("p", &[job("a \"key\" ä").priority(7).max_attempts(3), job("b").queue_name("serial")])
        .await;
    world.settle().await;
    let both = "SELECT json_build_array(j.flags #>> '{fairgate,j}', j.flags #>> '{fairgate,policy}', j.flags #>> '{fairgate,p}', t.identifier, j.priority,
                       j.max_attempts, j.attempts, j.key, j.locked_at, j.job_queue_id,
                       f.job_id::text = j.flags #>> '{fairgate,j}', f.policy, f.partition_key, f.queue, f.forced)::text
                  FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id
                  JOIN fairgate.inflight f ON f.admission_id::text = j.flags #>> '{fairgate,a}' AND f.queue_job_id = j.id::text ORDER BY j.priority DESC";
    let row = |id: String, key: &str, priority: i32, attempts: i32| {
        format!(
            "[\"{id}\", \"p\", {key}, \"work\", {priority}, {attempts}, 0, null, null, null, true, \"p\", {key}, \"main\", false]"
        )
    };
    let expected = [
        row(staged[0].job_id.to_string(), r#""a \"key\" ä""#, 7, 3),
        row(staged[1].job_id.to_string(), r#""b""#, 0, 25),
    ];
    assert_eq!(world.column(both).await, expected);
    let extra = "SELECT string_agg(k, ',' ORDER BY k) FROM (SELECT DISTINCT jsonb_object_keys(flags -> 'fairgate') k FROM graphile_worker._private_jobs) x";
    assert_eq!(world.text(extra).await, "a,j,p,policy,q");
}

#[tokio::test]
async fn every_admitted_job_has_one_slot_with_an_id_of_its_own_gates_or_not() {
    let mut world = World::new(vec![open("free"), capped("capped", 50.0)]).await;
    for policy in ["free", "capped"] {
        for tenant in ["a", "b", "c"] {
            world.stage(policy, tenant, 7).await;
        }
    }
    assert_eq!(world.settle().await, 42);
    let one_each = "SELECT count(*) FROM graphile_worker._private_jobs j
                      JOIN fairgate.in_flight f ON f.admission_id::text = j.flags #>> '{fairgate,a}' AND f.job_id::text = j.flags #>> '{fairgate,j}'
                     WHERE f.admission_id <> f.job_id";
    assert_eq!(world.number(one_each).await, 42);
    assert_eq!(world.in_flight().await, 42);
    assert_eq!(world.number("SELECT count(DISTINCT job_id) FROM fairgate.in_flight").await, 42);
    let limits = "SELECT string_agg(DISTINCT policy || limits::text, ' ' ORDER BY policy || limits::text) FROM fairgate.inflight";
    assert_eq!(world.text(limits).await, r#"capped{"concurrency": 50} free{}"#);
}

#[tokio::test]
async fn one_tick_takes_turns_between_its_tenants_in_the_queue() {
    let mut world = World::new(vec![open("p")]).await;
    for tenant in ["a", "b", "c"] {
        world.stage("p", tenant, 3).await;
    }
    assert_eq!(world.pass().await.ticks.jobs_admitted, 9);
    let order = "SELECT flags #>> '{fairgate,p}' FROM graphile_worker._private_jobs ORDER BY id";
    let order = world.column(order).await;
    let (first, rest) = order.split_at(3);
    assert_eq!(rest, [first, first].concat());
}

#[tokio::test]
async fn a_tick_takes_the_same_few_statements_for_one_job_and_for_two_thousand() {
    let settings = Settings { partition_batch_size: 100, ..Settings::default() };
    let p = policy("p")
        .throttle(|t| t.rate(1.0).per(Duration::from_secs(3600)).burst(20.0))
        .concurrency(|c| c.max(50.0));
    let mut world = World::with(vec![p.build().expect("a policy")], settings).await;
    world.stage("p", "warm", 1).await;
    world.settle().await;

    let statements = Statements::listen();
    let mut counts = Vec::new();
    for (prefix, tenants, jobs) in [("few", 1, 1), ("many", 100, 20), ("many", 100, 20)] {
        for n in 0..tenants {
            world.stage("p", &format!("{prefix} {n}"), jobs).await;
        }
        statements.take();
        let admitted = world.pass().await.ticks.jobs_admitted;
        counts.push((admitted, statements.take()));
    }
    let [few, many, none] = counts.as_slice() else { panic!("three passes") };
    assert_eq!((few.0, many.0, none.0), (1, 2_000, 0));
    assert_eq!(few.1, many.1);
    assert!(none.1.len() < few.1.len(), "denying costs less: {:?}", none.1);
    // Absorb and promote, lanes, the next scheduled job; hold, claim, admit, settle, commit.
    assert!(few.1.len() <= 9, "{:?}", few.1);
}

#[tokio::test]
async fn a_tick_runs_under_timeouts_that_free_its_partitions_when_it_freezes() {
    let mut world = World::new(vec![open("p")]).await;
    world
        .execute(
            "CREATE TABLE public.seen AS SELECT ''::text AS name, ''::text AS value WHERE false;
             CREATE FUNCTION public.look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
               INSERT INTO public.seen SELECT s.name, s.setting FROM pg_settings s
                WHERE s.name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'jit', 'plan_cache_mode'); RETURN NULL; END $$;
             CREATE TRIGGER look BEFORE INSERT ON graphile_worker._private_jobs FOR EACH STATEMENT EXECUTE FUNCTION public.look()",
        )
        .await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.pass().await.ticks.jobs_admitted, 1);
    let seen = world.column("SELECT name || ' ' || value FROM public.seen ORDER BY 1").await;
    assert_eq!(
        seen[..3],
        ["idle_in_transaction_session_timeout 10000", "jit off", "plan_cache_mode force_generic_plan"]
    );
    assert!(seen[3].starts_with("statement_timeout ") && seen[3] != "statement_timeout 0", "{seen:?}");
    let mut conn = world.conn().await;
    let after: String =
        sqlx::query_scalar("SHOW idle_in_transaction_session_timeout").fetch_one(&mut *conn).await.unwrap();
    assert_eq!(after, "0", "and leaves none behind on the pool's connection");
}
