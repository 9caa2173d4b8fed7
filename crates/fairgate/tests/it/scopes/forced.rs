use fairgate::Policy;
use fairgate::force::{Means, admit};

use super::{job, per_account};
use crate::world::{World, name, policy};

async fn force(world: &World, partition: &str, count: u32) -> u64 {
    let mut conn = world.conn().await;
    let key = partition.parse().expect("a key");
    admit(&mut conn, &Means::default(), &name("p"), &key, count).await.expect("forced").admitted
}

#[tokio::test]
async fn forced_jobs_hold_slots_of_their_account_whatever_it_allows() {
    let mut world = World::new(vec![per_account("p", 2.0)]).await;
    world.stage_account("p", "a", 2, 4).await;
    assert_eq!(force(&world, "a-00000", 3).await, 3, "past the cap, and before any tick made the scope");
    world.audit().await;
    assert_eq!(world.number("SELECT in_flight::bigint FROM fairgate.scope").await, 3);
    assert_eq!(world.drain_into_slots().await, 0, "the account has more than it may");
    world.complete_any(1).await;
    assert_eq!(world.drain_into_slots().await, 0, "2 of 2");
    world.complete_any(1).await;
    assert_eq!(world.drain_into_slots().await, 1);
    assert_eq!(world.in_flight_of("a").await, 2);
}

#[tokio::test]
async fn forced_jobs_of_one_that_waits_for_a_scope_leave_it_its_place() {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    world.stage_account("p", "a", 3, 3).await;
    assert_eq!(world.drain_into_slots().await, 1);
    let first = world
        .column("SELECT p.key FROM fairgate.partition_state s JOIN fairgate.partition p USING (id) WHERE s.waiting_on IS NOT NULL ORDER BY s.waiting_since, s.id LIMIT 1")
        .await;
    assert_eq!(force(&world, &first[0], 1).await, 1);
    world.audit().await;
    assert_eq!(world.drain_into_slots().await, 0, "2 hold the one slot");
    world.complete_any(2).await;
    assert_eq!(world.drain_into_slots().await, 1);
    let key = &first[0];
    let got = world
        .number(&format!("SELECT count(*) FROM fairgate.in_flight f JOIN fairgate.partition p ON p.id = f.partition_id WHERE p.key = '{key}'"))
        .await;
    assert_eq!(got, 1, "it still stood first");
}

#[tokio::test]
async fn forced_jobs_put_a_shared_bucket_into_debt() {
    let second = std::time::Duration::from_secs(1);
    let paced: Policy = policy("p")
        .throttle(|t| t.scope("account").rate(1.0).per(second * 3_600).burst(2.0))
        .build()
        .expect("a policy");
    let mut world = World::new(vec![paced]).await;
    world.stage_jobs("p", &vec![job("e", "a"); 6]).await;
    assert_eq!(force(&world, "e", 5).await, 5);
    world.stage_jobs("p", &[job("f", "a")]).await;
    let now = world.after_ms(0).await;
    assert_eq!(
        world.admitted_at(now + chrono::TimeDelta::hours(3)).await,
        0,
        "3 of 3 are paid back, and none is there yet"
    );
    assert_eq!(world.admitted_at(now + chrono::TimeDelta::minutes(4 * 60 + 1)).await, 1);
    world.audit().await;
}

#[tokio::test]
async fn a_resumed_partition_and_one_with_another_limit_wait_for_their_scope_again() {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    world.stage_account("p", "a", 2, 1).await;
    assert_eq!(world.drain_into_slots().await, 1);
    let waiting = world.column("SELECT partition_key FROM fairgate.staged").await[0].parse().expect("a key");
    let parked =
        "SELECT count(*) FROM fairgate.partition_state WHERE waiting_on IS NOT NULL AND due_at IS NULL";
    let odd =
        "SELECT count(*) FROM fairgate.partition_state WHERE waiting_on IS NOT NULL AND due_at IS NOT NULL";
    assert_eq!(world.number(parked).await, 1);
    fairgate::operate::pause_partition(&mut *world.conn().await, &name("p"), &waiting).await.expect("paused");
    fairgate::operate::resume_partition(&mut *world.conn().await, &name("p"), &waiting)
        .await
        .expect("resumed");
    assert_eq!(world.number(odd).await, 0, "whoever is due does not wait");
    assert_eq!(world.drain_into_slots().await, 0);
    assert_eq!(world.number(parked).await, 1);
    world.complete_any(1).await;
    assert_eq!(world.drain_into_slots().await, 1);
}
