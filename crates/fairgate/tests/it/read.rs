//! What people read must not break on what tenants write.

use fairgate::doctor::{Severity, examine};
use fairgate::observe::{PartitionSort, partitions};

use crate::world::{World, policy};

#[tokio::test]
async fn partitions_are_listed_whatever_their_contexts_hold() {
    let world = World::new(vec![policy("p").build().expect("a policy")]).await;
    world
        .execute(
            "SELECT fairgate.stage('p', 'work', '{}', ('{\"tenant\": \"deep\", \"x\": ' || repeat('[', 3000) || repeat(']', 3000) || '}')::jsonb);
             SELECT fairgate.stage('p', 'work', '{}', '{\"tenant\": \"large\", \"x\": 1e400}')",
        )
        .await;
    let mut conn = world.conn().await;
    fairgate::absorb::absorb(&mut conn, None).await.expect("absorbed");
    let name = "p".parse().expect("a name");
    let listed = partitions(&mut conn, &name, None, PartitionSort::Key, 10).await.expect("a list");
    assert_eq!(listed.iter().map(|p| p.key.as_str()).collect::<Vec<_>>(), ["deep", "large"]);
    assert!(serde_json::to_string(&listed).expect("JSON").contains("]]]]"), "the context is there whole");
}

#[tokio::test]
async fn the_doctor_looks_at_a_queue_itself_and_repeats_no_old_verdict() {
    let world = World::new(vec![policy("p").build().expect("a policy")]).await;
    let verdict = async |world: &World| {
        let found = examine(&mut *world.conn().await).await.expect("examined");
        found.into_iter().find(|f| f.check == "queue main").expect("the queue was looked at")
    };
    assert_eq!(verdict(&world).await.severity, Severity::Ok);
    world.execute("ALTER SCHEMA graphile_worker RENAME TO elsewhere").await;
    let gone = verdict(&world).await;
    assert_eq!(gone.severity, Severity::Problem);
    assert!(gone.found.contains("is not in this database"), "{}", gone.found);
    world.execute("ALTER SCHEMA elsewhere RENAME TO graphile_worker").await;
    assert_eq!(verdict(&world).await.severity, Severity::Ok);
}
