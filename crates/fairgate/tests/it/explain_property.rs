//! Whatever happened to a partition: what `explain` says of its jobs is what ticks then do.

use chrono::{DateTime, TimeDelta, Utc};
use fairgate::observe::{Event, JobExplanation, explain_job};
use fairgate::{JobId, Policy, Settings};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use tokio::sync::Mutex;

use crate::world::{World, job, policy};

/// What happens to a partition.
#[derive(Debug, Clone)]
enum Step {
    Stage {
        limits: [i32; 3],
        priority: i32,
        later_ms: Option<i64>,
    },
    Tick,
    Absorb,
    Complete(i64),
    /// Another partition of the account gets so many jobs, or completes one.
    Neighbour(usize),
    NeighbourCompletes,
    CancelOldest,
    Wait(i64),
    Override {
        which: usize,
        value: i32,
        lasts_ms: i64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let stage = (prop::array::uniform3(0..6), 0..3, prop::option::weighted(0.2, 1..3_000_i64))
        .prop_map(|(limits, priority, later_ms)| Step::Stage { limits, priority, later_ms });
    let step = prop_oneof![
        4 => stage,
        3 => Just(Step::Tick),
        1 => Just(Step::Absorb),
        1 => (1..4_i64).prop_map(Step::Complete),
        2 => (1..4_usize).prop_map(Step::Neighbour),
        1 => Just(Step::NeighbourCompletes),
        1 => Just(Step::CancelOldest),
        2 => (1..1_500_i64).prop_map(Step::Wait),
        1 => (0..3_usize, 0..8, 1..4_000_i64).prop_map(|(which, value, lasts_ms)| Step::Override { which, value, lasts_ms }),
    ];
    prop::collection::vec(step, 1..14)
}

/// Its limits stand in the context: rate, burst, max.
fn gated() -> Policy {
    policy("p")
        .throttle(|t| {
            t.rate_from("rate", 1.0).per(std::time::Duration::from_secs(1)).burst_from("burst", 1.0)
        })
        .concurrency(|c| c.max_from("max", 2.0))
        .build()
        .expect("a policy")
}

/// The same limits, shared by the partitions of an account, and one of its own.
fn shared() -> Policy {
    policy("p")
        .throttle(|t| {
            t.scope("account")
                .rate_from("rate", 1.0)
                .per(std::time::Duration::from_secs(1))
                .burst_from("burst", 1.0)
        })
        .concurrency(|c| c.scope("account").max_from("max", 2.0))
        .concurrency(|c| c.named("own").max(2.0))
        .build()
        .expect("a policy")
}

async fn play(world: &mut World, tenant: &str, steps: &[Step]) -> DateTime<Utc> {
    let mut now = world.after_ms(10_000).await;
    for step in steps {
        match step {
            Step::Stage { limits: [rate, burst, max], priority, later_ms } => {
                let context =
                    json!({ "tenant": tenant, "account": tenant, "rate": rate, "burst": burst, "max": max });
                let mut one = job(tenant).context(&context).expect("a context").priority(*priority);
                if let Some(ms) = later_ms {
                    one = one.run_at(now + TimeDelta::milliseconds(*ms));
                }
                world.stage_jobs("p", &[one]).await;
            }
            Step::Tick => drop(world.pass_at(now).await),
            Step::Absorb => world.absorb().await,
            Step::Complete(count) => drop(world.complete(tenant, *count).await),
            Step::Neighbour(count) => {
                let context = json!({ "tenant": format!("{tenant}n"), "account": tenant, "rate": 1, "burst": 2, "max": 3 });
                let one = job(tenant).context(&context).expect("a context");
                world.stage_jobs("p", &vec![one; *count]).await;
            }
            Step::NeighbourCompletes => drop(world.complete(&format!("{tenant}n"), 1).await),
            Step::CancelOldest => {
                let cancel = format!(
                    "SELECT count(fairgate.cancel(job_id)) FROM (SELECT job_id FROM fairgate.staged WHERE partition_key = '{tenant}' ORDER BY 1 LIMIT 1) x"
                );
                world.number(&cancel).await;
            }
            Step::Override { which, value, lasts_ms } => {
                let (gate, parameter) =
                    [("throttle", "rate"), ("throttle", "burst"), ("concurrency", "max")][*which];
                let until = now + TimeDelta::milliseconds(*lasts_ms);
                // As `overrides::make` does it, at the time of the story.
                world
                    .execute(&format!(
                        "WITH armed AS (UPDATE fairgate.partition_state s SET due_at = '{now}', eligible_at = '-infinity', removing = NULL
                           FROM fairgate.partition p WHERE p.id = s.id AND p.key = '{tenant}' RETURNING s.id)
                         INSERT INTO fairgate.override (partition_id, policy_id, gate, parameter, value, until, who, made_at, reason)
                         SELECT a.id, 1, '{gate}', '{parameter}', {value}, '{until}', 'w', '{now}', 'r' FROM armed a
                         ON CONFLICT (partition_id, gate, parameter) DO UPDATE SET value = excluded.value, until = excluded.until"
                    ))
                    .await;
            }
            Step::Wait(ms) => now += TimeDelta::milliseconds(*ms),
        }
    }
    now
}

async fn waits(world: &World, id: JobId) -> bool {
    world.number(&format!("SELECT count(*) FROM fairgate.staged WHERE job_id = '{id}'")).await == 1
}

/// Plays the steps, then holds the explanation of one job against the ticks that follow.
async fn check(
    world: &mut World,
    tenant: &str,
    steps: &[Step],
    pick: usize,
    early: bool,
    crowded: bool,
) -> Result<(), TestCaseError> {
    let now = play(world, tenant, steps).await;
    if crowded {
        // Who shares a scope with whom is known from a look.
        world.pass_at(now).await;
    }
    let staged = world
        .column(&format!(
            "SELECT job_id::text FROM fairgate.staged WHERE partition_key = '{tenant}' ORDER BY 1"
        ))
        .await;
    let Some(id) = (!staged.is_empty()).then(|| staged[pick % staged.len()].parse::<JobId>().expect("an id"))
    else {
        return Ok(());
    };
    let told = explain_job(&mut *world.conn().await, &[], id, Some(now)).await.expect("explained");
    let JobExplanation::Staged(told) = told else {
        return Err(TestCaseError::fail(format!("{told:?}")));
    };
    match told.earliest {
        Some(at) => {
            prop_assert!(
                told.holds.iter().all(|h| matches!(h.event, Event::RunAt | Event::Ticker)),
                "{told:?}"
            );
            // A look changes what the gates keep, so it is the one or the other.
            if early && at > now {
                world.pass_at(at - TimeDelta::microseconds(1)).await;
                prop_assert!(waits(world, id).await, "it went before {at}: {told:?}");
            } else if told.ahead == 0 {
                world.pass_at(at).await;
                prop_assert!(!waits(world, id).await, "it did not go at {at}: {told:?}");
            }
        }
        // Everybody before it may have gone by then.
        None if told.holds.iter().any(|hold| hold.event == Event::Turn) => {}
        None => {
            world.pass_at(now + TimeDelta::seconds(3_600)).await;
            prop_assert!(waits(world, id).await, "nothing happened and it went: {told:?}");
        }
    }
    Ok(())
}

/// Holds 150 stories to what was explained in them. `crowded`: the neighbour shares scopes, and has none that this one waits for.
async fn hold(policy: Policy, crowded: bool) {
    let settings = Settings { partition_batch_size: 10_000, ..Settings::default() };
    let world = Mutex::new((World::with(vec![policy], settings).await, 0));
    let here = tokio::runtime::Handle::current();
    let outcome = tokio::task::block_in_place(|| {
        let config =
            Config { cases: 150, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
        TestRunner::new(config).run(&(steps(), 0..20_usize, any::<bool>()), |(steps, pick, early)| {
            here.block_on(async {
                let mut world = world.lock().await;
                world.1 += 1;
                let tenant = format!("t{}", world.1);
                let checked = check(&mut world.0, &tenant, &steps, pick, early, crowded).await;
                world.0.execute("SELECT fairgate.cancel(job_id) FROM fairgate.staged").await;
                checked
            })
        })
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    world.lock().await.0.audit().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_only_time_holds_a_job_the_first_tick_at_its_instant_admits_it_and_none_before() {
    hold(gated(), false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_only_time_holds_a_job_the_first_tick_at_its_instant_admits_it_and_none_before_where_scopes_are_shared()
 {
    hold(shared(), true).await;
}
