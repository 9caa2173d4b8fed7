//! Where budgets and queues are shared, `explain` promises an instant only to a job that gets its turn whoever else wants it.

use std::time::Duration;

use fairgate::observe::{Event, JobExplanation, explain_job};
use fairgate::{JobId, Policy};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use tokio::sync::Mutex;

use crate::world::{World, job, policy};

const BUDGETS: [u32; 3] = [1, 2, 5];

fn policies() -> Vec<Policy> {
    let one = |budget: u32| {
        policy(&format!("b{budget}"))
            .throttle(|t| t.rate_from("rate", 1.0).per(Duration::from_secs(1)).burst(2.0))
            .tick_admission_budget(budget)
            .build()
            .expect("a policy")
    };
    BUDGETS.map(one).to_vec()
}

/// What waits, what was done with it, and which job is asked about.
#[derive(Debug, Clone)]
struct Story {
    /// By policy and tenant: jobs, and the rate of the tenant.
    staged: Vec<Vec<(usize, i32)>>,
    max_waiting: Option<u32>,
    passes: usize,
    pick: usize,
}

fn stories() -> impl Strategy<Value = Story> {
    let tenants = prop::collection::vec((0..4_usize, 0..4), 0..7);
    let staged = prop::collection::vec(tenants, BUDGETS.len());
    (staged, prop::option::of(0..9_u32), 0..3_usize, any::<usize>())
        .prop_map(|(staged, max_waiting, passes, pick)| Story { staged, max_waiting, passes, pick })
}

/// What was found out: whether an instant was promised, or a turn awaited.
#[derive(Default)]
struct Told {
    instants: u32,
    turns: u32,
    full: u32,
}

async fn check(world: &mut World, story: &Story, case: usize, told: &mut Told) -> Result<(), TestCaseError> {
    let limit = story.max_waiting.map_or("NULL".to_owned(), |limit| limit.to_string());
    world.execute(&format!("UPDATE fairgate.queue SET max_waiting = {limit}")).await;
    let mut now = world.after_ms(10_000).await;
    for (budget, tenants) in BUDGETS.iter().zip(&story.staged) {
        for (at, (jobs, rate)) in tenants.iter().enumerate() {
            let tenant = format!("c{case}t{at}");
            let context = json!({ "tenant": tenant, "rate": rate });
            let one = job(&tenant).context(&context).expect("a context");
            world.stage_jobs(&format!("b{budget}"), &vec![one; *jobs]).await;
        }
    }
    for _ in 0..story.passes {
        world.pass_at(now).await;
        now += chrono::TimeDelta::milliseconds(300);
    }
    let waiting = world.column("SELECT job_id::text FROM fairgate.staged ORDER BY 1").await;
    let Some(id) = waiting.get(story.pick % waiting.len().max(1)) else { return Ok(()) };
    let id: JobId = id.parse().expect("an id");
    let answer = explain_job(&mut *world.conn().await, &[], id, Some(now)).await.expect("explained");
    let JobExplanation::Staged(answer) = answer else {
        return Err(TestCaseError::fail(format!("{answer:?}")));
    };
    let holds = |event| answer.holds.iter().any(|hold| hold.event == event);
    let waits = format!("SELECT count(*) FROM fairgate.staged WHERE job_id = '{id}'");
    if let Some(at) = answer.earliest.filter(|_| answer.ahead == 0) {
        told.instants += 1;
        world.pass_at(at).await;
        prop_assert_eq!(world.number(&waits).await, 0, "it did not go at {}: {:?}", at, answer);
    } else if holds(Event::Workers) {
        told.full += 1;
        world.pass_at(now + chrono::TimeDelta::seconds(60)).await;
        prop_assert_eq!(world.number(&waits).await, 1, "no worker began anything: {:?}", answer);
    } else if holds(Event::Turn) {
        told.turns += 1;
        prop_assert!(answer.earliest.is_none());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_shares_a_budget_or_a_queues_room_goes_at_its_instant_or_is_told_to_await_its_turn() {
    let world = Mutex::new((World::new(policies()).await, 0, Told::default()));
    let here = tokio::runtime::Handle::current();
    let outcome = tokio::task::block_in_place(|| {
        let config =
            Config { cases: 200, failure_persistence: None, max_shrink_iters: 40, ..Config::default() };
        TestRunner::new(config).run(&stories(), |story| {
            here.block_on(async {
                let (world, case, told) = &mut *world.lock().await;
                *case += 1;
                let checked = check(world, &story, *case, told).await;
                world.execute("SELECT fairgate.cancel(job_id) FROM fairgate.staged; DELETE FROM graphile_worker._private_jobs").await;
                world.absorb().await;
                checked
            })
        })
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    let (world, _, told) = &*world.lock().await;
    let Told { instants, turns, full } = *told;
    assert!(instants >= 3 && turns >= 10 && full >= 5, "{instants} instants, {turns} turns, {full} full");
    world.audit().await;
}
