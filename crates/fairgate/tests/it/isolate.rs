//! A job that the queue refuses: it is retried alone and set aside, and nobody else waits for it.

use chrono::{DateTime, TimeDelta, Utc};
use fairgate::{NewJob, Settings};

use crate::world::{World, job, open, queued};

/// From here on the queue refuses every job whose payload says so.
async fn refuse_poison(world: &World) {
    world
        .execute(
            "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN RAISE EXCEPTION 'the queue does not take %', NEW.payload USING ERRCODE = 'check_violation'; END $$;
             CREATE TRIGGER refuse BEFORE INSERT ON graphile_worker._private_jobs FOR EACH ROW
               WHEN (NEW.payload::text = '\"poison\"') EXECUTE FUNCTION public.refuse()",
        )
        .await;
}

fn poison(tenant: &str) -> NewJob {
    job(tenant).payload("poison").expect("a payload")
}

/// One tenant with `count` jobs, those at the given places poisoned.
async fn stage_with_poison(world: &World, tenant: &str, count: usize, places: &[usize]) {
    let jobs: Vec<_> =
        (0..count).map(|n| if places.contains(&n) { poison(tenant) } else { job(tenant) }).collect();
    world.stage_jobs("p", &jobs).await;
}

#[tokio::test]
async fn one_refused_job_in_a_batch_of_500_holds_up_none_of_the_others() {
    let settings = Settings { admission_batch_size: 500, ..Settings::default() };
    let mut world = World::with(vec![open("p")], settings).await;
    refuse_poison(&world).await;
    stage_with_poison(&world, "t", 500, &[217]).await;
    let pass = world.pass().await;
    assert_eq!((pass.ticks.jobs_admitted, pass.ticks.failures), (499, 1));
    assert_eq!(queued(&mut *world.conn().await, "t").await, 499);
    let left = "SELECT json_build_array(payload, forward_attempts, forward_error, ready)::text FROM fairgate.staged_jobs";
    assert_eq!(world.column(left).await, [r#"["poison", 1, "the queue does not take \"poison\"", false]"#]);
    world.audit().await;
}

#[tokio::test]
async fn partitions_beside_a_refused_job_are_admitted_in_the_same_tick() {
    let mut world = World::new(vec![open("p"), open("q")]).await;
    refuse_poison(&world).await;
    stage_with_poison(&world, "sick", 3, &[0]).await;
    for n in 0..20 {
        world.stage("p", &format!("well {n}"), 5).await;
    }
    world.stage("q", "other policy", 5).await;
    let pass = world.pass().await;
    assert_eq!((pass.lanes, pass.ticks.jobs_admitted, pass.ticks.failures), (2, 107, 1));
    world.audit().await;
}

#[tokio::test]
async fn a_refused_job_is_retried_later_and_later_and_then_quarantined_whole_with_its_error() {
    let mut world = World::new(vec![open("p")]).await;
    refuse_poison(&world).await;
    let refused = poison("t").priority(4).max_attempts(9).queue_name("q");
    let id = world.stage_jobs("p", &[refused]).await[0].job_id;
    let mut now: DateTime<Utc> = world.after_ms(1_000).await;
    for (attempt, wait) in [(1, 1), (2, 2), (3, 4), (4, 8)] {
        assert_eq!(world.pass_at(now).await.ticks.failures, 1, "attempt {attempt}");
        world.audit().await;
        let due = now + TimeDelta::seconds(wait);
        assert_eq!(world.pass_at(due - TimeDelta::milliseconds(1)).await.ticks.failures, 0);
        now = due;
    }
    assert_eq!(world.number("SELECT count(*) FROM fairgate.quarantine").await, 0);
    assert_eq!(world.pass_at(now).await.ticks.failures, 1);
    let set_aside = "SELECT json_build_array(job_id, policy, partition_key, task, priority, max_attempts, queue_name, payload, context ->> 'tenant',
                                             forward_attempts, error)::text FROM fairgate.quarantine";
    let expected = format!(
        r#"["{id}", "p", "t", "work", 4, 9, "q", "poison", "t", 5, "the queue does not take \"poison\""]"#
    );
    assert_eq!(world.column(set_aside).await, [expected]);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 0);
    assert_eq!(world.pass_at(now + TimeDelta::days(1)).await.ticks.failures, 0);
    world.audit().await;
    let status = fairgate::observe::status(&mut *world.conn().await).await.unwrap();
    assert_eq!((status.quarantined, status.policies[0].quarantined), (1, 1));
}

#[tokio::test]
async fn a_refused_job_that_the_queue_takes_later_is_admitted_like_any_other() {
    let mut world = World::new(vec![open("p")]).await;
    refuse_poison(&world).await;
    stage_with_poison(&world, "t", 1, &[0]).await;
    let now = world.after_ms(1_000).await;
    assert_eq!(world.pass_at(now).await.ticks.failures, 1);
    world.execute("DROP TRIGGER refuse ON graphile_worker._private_jobs").await;
    assert_eq!(world.admitted_at(now + TimeDelta::seconds(1)).await, 1);
    assert_eq!(queued(&mut *world.conn().await, "t").await, 1);
    world.audit().await;
}

#[tokio::test]
async fn many_refused_jobs_are_dealt_with_a_bounded_number_a_tick_until_none_is_left() {
    let mut world = World::new(vec![open("p")]).await;
    refuse_poison(&world).await;
    let places: Vec<_> = (0..60).map(|n| n * 3).collect();
    stage_with_poison(&world, "t", 90, &places).await;
    let mut now = world.after_ms(1_000).await;
    let (mut admitted, mut ticks) = (0, 0);
    while world.number("SELECT count(*) FROM fairgate.staged WHERE forward_attempts = 0").await > 0 {
        let pass = world.pass_at(now).await;
        assert!(pass.ticks.failures <= 25, "{pass:?}");
        admitted += pass.ticks.jobs_admitted;
        now += TimeDelta::milliseconds(20);
        ticks += 1;
        assert!(ticks < 10, "each tick gets on");
    }
    assert_eq!(admitted, 60);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 30);
    world.audit().await;
}

#[tokio::test]
async fn gates_are_charged_for_those_that_went_not_for_those_refused() {
    let p = crate::world::policy("p")
        .throttle(|t| t.rate(1.0).per(std::time::Duration::from_secs(3600)).burst(6.0));
    let mut world = World::new(vec![p.build().expect("a policy")]).await;
    refuse_poison(&world).await;
    stage_with_poison(&world, "t", 20, &[1, 3]).await;
    let now = world.after_ms(1_000).await;
    let pass = world.pass_at(now).await;
    assert_eq!((pass.ticks.jobs_admitted, pass.ticks.failures), (4, 2));
    assert_eq!(world.admitted_at(now + TimeDelta::milliseconds(20)).await, 2, "two tokens are left");
    assert_eq!(world.admitted_at(now + TimeDelta::milliseconds(40)).await, 0);
    world.audit().await;
}
