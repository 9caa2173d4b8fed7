use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

fn stage(user: &User) -> String {
    let arguments = ["stage", "webhooks", "--task", "t", "--partition-key", "k", "--json"];
    user.run(&arguments).succeeds().json()["job_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn cancel_says_of_each_job_whether_it_was_waiting() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let (first, second) = (stage(&user), stage(&user));
    assert_snapshot!(user.run(&["cancel", &first]));
    assert_snapshot!(user.run(&["cancel", &first, &second]));
    let left: i64 =
        sqlx::query_scalar("SELECT count(*) FROM fairgate.staged").fetch_one(database.pool()).await.unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn cancel_answers_as_json() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let job = stage(&user);
    let json = user.run(&["cancel", "--json", &job]).succeeds().json();
    assert_eq!(json, serde_json::json!({ "jobs": [{ "job_id": job, "cancelled": true }] }));
}

#[test]
fn a_job_id_that_is_none_is_wrong_use() {
    assert_snapshot!(User::new().run(&["cancel", "42"]));
}
