use fairgate_testkit::TestDb;
use insta::assert_snapshot;
use serde_json::json;

use crate::support::{PLAIN, User};

async fn with_jobs(database: &TestDb) -> User {
    let user = User::with_policies(database, PLAIN);
    let line = "{\"task\": \"t\", \"partition_key\": \"acct:7\"}\n";
    let later = "{\"task\": \"t\", \"partition_key\": \"acct:7\", \"run_at\": \"2999-01-01T00:00:00Z\"}\n";
    let jobs = line.repeat(5) + later;
    user.run_with(&["stage", "webhooks", "--ndjson", "-"], &jobs).succeeds();
    user
}

#[tokio::test]
async fn admit_and_drain_say_what_went_and_what_is_left() {
    let database = TestDb::new().await;
    let user = with_jobs(&database).await;
    user.run(&["pause", "webhooks"]).succeeds();
    assert_snapshot!(user.run(&["admit", "webhooks", "acct:7", "--count", "2"]));
    assert_snapshot!(user.run(&["drain", "webhooks"]));
    let json = user.run(&["drain", "webhooks", "acct:7", "--json"]).succeeds().json();
    assert_eq!(json, json!({ "admitted": 0, "refused": 0, "waiting": 0, "scheduled": 1 }));
}

#[tokio::test]
async fn a_partition_that_is_not_there_and_a_queue_that_is_not_ready_are_said() {
    let database = TestDb::new().await;
    let user = with_jobs(&database).await;
    assert_snapshot!(user.run(&["admit", "webhooks", "acct:8", "--count", "2"]));
    sqlx::query("UPDATE fairgate.queue SET ready = false, not_ready_reason = 'it sleeps'")
        .execute(database.pool())
        .await
        .unwrap();
    assert_snapshot!(user.run(&["drain", "webhooks"]));
}

#[tokio::test]
async fn a_drain_that_fails_half_way_says_how_many_jobs_went() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let line = "{\"task\": \"t\", \"partition_key\": \"acct:7\"}\n";
    user.run_with(&["stage", "webhooks", "--ndjson", "-"], &line.repeat(1_100)).succeeds();
    let tire = "CREATE SEQUENCE public.passed;
        CREATE FUNCTION public.tire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('public.passed') > 1050 THEN
            RAISE EXCEPTION 'worn out' USING ERRCODE = 'insufficient_privilege';
          END IF; RETURN NEW; END $$;
        CREATE TRIGGER tire BEFORE INSERT ON graphile_worker._private_jobs FOR EACH ROW EXECUTE FUNCTION public.tire()";
    sqlx::raw_sql(tire).execute(database.pool()).await.unwrap();
    assert_snapshot!(user.run(&["drain", "webhooks"]));
}
