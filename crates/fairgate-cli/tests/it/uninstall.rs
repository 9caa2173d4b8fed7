use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

#[tokio::test]
async fn uninstall_says_what_it_would_do_and_does_it_when_told() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    user.run(&["stage", "webhooks", "--task", "t", "--partition-key", "k"]).succeeds();
    assert_snapshot!(user.run(&["uninstall"]));
    assert_snapshot!(user.run(&["uninstall", "--yes"]));
    assert_snapshot!(user.run(&["uninstall", "--drop-staged"]));
    assert_snapshot!(user.run(&["uninstall", "--drain", "--yes"]));
    assert_snapshot!(user.run(&["uninstall", "--yes"]));
    let sent: i64 = sqlx::query_scalar("SELECT count(*) FROM graphile_worker._private_jobs")
        .fetch_one(database.pool())
        .await
        .unwrap();
    assert_eq!(sent, 1);
}
