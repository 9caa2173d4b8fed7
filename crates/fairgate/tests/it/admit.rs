use crate::world::{World, policy, queued};

#[tokio::test]
async fn a_cap_admits_no_more_than_max_and_a_finish_frees_one_slot() {
    let mut world =
        World::new(vec![policy("p").concurrency(|c| c.max(3.0)).build().expect("a policy")]).await;
    world.stage("p", "a", 10).await;
    assert_eq!(world.settle().await, 3);
    assert_eq!(queued(&mut *world.conn().await, "a").await, 3);
    world.audit().await;

    assert_eq!(world.complete("a", 1).await, 1);
    world.audit().await;
    assert_eq!(world.settle().await, 1);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.in_flight").await, 3);
    world.audit().await;
}
