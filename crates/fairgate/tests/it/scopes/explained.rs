use fairgate::Policy;
use fairgate::observe::{Event, PartitionExplanation, explain_partition};
use fairgate::overrides::{self, NewOverride, OverrideError};

use super::per_account;
use crate::world::{World, name, policy};

async fn explain(world: &World, partition: &str) -> PartitionExplanation {
    explain_partition(&mut *world.conn().await, &[], &name("p"), &partition.parse().expect("a key"), None)
        .await
        .expect("explained")
}

fn events(told: &PartitionExplanation) -> Vec<Event> {
    told.holds.iter().map(|hold| hold.event).filter(|&event| event != Event::Ticker).collect()
}

#[tokio::test]
async fn a_full_scope_is_named_with_used_and_limit_and_those_who_hold_its_slots() {
    let mut world = World::new(vec![per_account("p", 2.0)]).await;
    world.stage_account("p", "a", 3, 1).await;
    assert_eq!(world.drain_into_slots().await, 2);
    let waiting = world.column("SELECT partition_key FROM fairgate.staged").await;
    let told = explain(&world, &waiting[0]).await;
    assert_eq!((told.earliest, events(&told)), (None, vec![Event::Finish]));
    assert_eq!(told.holds[0].why, "gate concurrency: all slots in use, 2 of 2 used in scope \"a\"");
    let gate = &told.gates[0];
    assert_eq!((gate.used, gate.limit, gate.allows), (Some(2), Some(2.0), 0));
    let scope = gate.scope.as_ref().expect("a scope");
    assert_eq!((scope.key.as_deref(), scope.ahead, scope.slots.len()), (Some("a"), 0, 2));
    world.complete_any(1).await;
    let told = explain(&world, &waiting[0]).await;
    assert!(told.earliest.is_some(), "a report that waits counts: {told:?}");
    assert_eq!(events(&told), []);
}

#[tokio::test]
async fn those_who_wait_for_a_scope_learn_how_many_stand_before_them() {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    world.stage_account("p", "a", 4, 1).await;
    assert_eq!(world.drain_into_slots().await, 1);
    let mut ahead = Vec::new();
    for partition in world.column("SELECT partition_key FROM fairgate.staged ORDER BY 1").await {
        let told = explain(&world, &partition).await;
        ahead.push(told.gates[0].scope.as_ref().expect("a scope").ahead);
    }
    ahead.sort_unstable();
    assert_eq!(ahead, [0, 1, 2]);
    world.complete_any(1).await;
    let last = world
        .column("SELECT p.key FROM fairgate.partition_state s JOIN fairgate.partition p USING (id) WHERE s.waiting_on IS NOT NULL ORDER BY s.waiting_since DESC, s.id DESC LIMIT 1")
        .await;
    let told = explain(&world, &last[0]).await;
    assert_eq!((told.earliest, events(&told)), (None, vec![Event::Turn]));
    assert_eq!(
        told.holds[0].why,
        "gate concurrency: 2 partitions stand before it in scope \"a\" with 2 jobs, and there is room for 1"
    );
}

#[tokio::test]
async fn a_full_policy_is_named() {
    let one: Policy =
        policy("p").concurrency(|c| c.named("all").max(1.0).scope_policy()).build().expect("a policy");
    let mut world = World::new(vec![one]).await;
    world.stage("p", "a", 1).await;
    assert_eq!(world.settle().await, 1);
    world.stage("p", "b", 1).await;
    world.absorb().await;
    let told = explain(&world, "b").await;
    assert_eq!((told.earliest, events(&told)), (None, vec![Event::Finish]));
    assert_eq!(told.holds[0].why, "gate all: all slots in use, 1 of 1 used in the whole policy");
    assert_eq!(told.gates[0].scope.as_ref().expect("a scope").key, None);
}

#[tokio::test]
async fn a_limit_that_partitions_share_is_not_overridden_for_one_of_them() {
    let world = World::new(vec![per_account("p", 2.0)]).await;
    world.stage_account("p", "a", 1, 1).await;
    let new = NewOverride {
        target: "concurrency.max".parse().expect("a target"),
        value: 9.0,
        lasts: std::time::Duration::from_secs(60),
        reason: "more for a".to_owned(),
        who: None,
    };
    let key = "a-00000".parse().expect("a key");
    let refused =
        overrides::make(&mut *world.conn().await, &name("p"), &key, &new).await.expect_err("refused");
    assert!(matches!(refused, OverrideError::Shared { .. }), "{refused:?}");
    assert_eq!(
        refused.to_string(),
        "gate \"concurrency\" of policy \"p\" counts all partitions of one account together, so it has no number of one partition; \
         change the number in their context, or in the policy"
    );
}
