use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::User;

#[tokio::test]
async fn migrate_installs_the_schema_and_may_run_again() {
    let database = TestDb::bare().await;
    let user = User::of(&database);
    assert_snapshot!(user.run(&["migrate"]));
    assert_snapshot!(user.run(&["migrate"]));
}
