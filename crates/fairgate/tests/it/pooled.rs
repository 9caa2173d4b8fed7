//! Behind a pooler in transaction mode every transaction may run in another session of the server.

use fairgate::Settings;

use crate::world::{World, policy};

#[tokio::test]
async fn behind_a_pooler_jobs_are_admitted_and_no_statement_stays_prepared() {
    let settings = Settings { pooled: true, ..Settings::default() };
    let mut world =
        World::with(vec![policy("p").concurrency(|c| c.max(3.0)).build().expect("a policy")], settings).await;
    world.stage("p", "a", 5).await;
    let mut conn = world.db.connect().await;
    let pass = world.ticker.pass(&mut conn, None, None).await.expect("a pass");
    assert_eq!(pass.ticks.jobs_admitted, 3);
    let kept: Vec<String> =
        sqlx::query_scalar("SELECT statement FROM pg_prepared_statements WHERE name <> ''")
            .persistent(false)
            .fetch_all(&mut conn)
            .await
            .expect("the session's statements");
    assert_eq!(kept, Vec::<String>::new(), "a statement that is prepared by name is lost with the session");
}
