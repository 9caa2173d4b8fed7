use fairgate_testkit::TestDb;

use crate::support::{PLAIN, User};

#[tokio::test]
async fn a_warning_alone_exits_with_0() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    let ran = user.run(&["doctor"]).succeeds();
    assert!(ran.stdout.contains("\nwarning  tickers "), "{ran}");
    assert!(ran.stdout.contains("\nok       schema "), "{ran}");
    let json = user.run(&["doctor", "--json"]).succeeds().json();
    assert_eq!(json["healthy"], true);
    assert_eq!(json["findings"][1]["check"], "schema");
}

#[tokio::test]
async fn a_problem_exits_with_1_and_says_what_to_do() {
    let database = TestDb::bare().await;
    let ran = User::of(&database).run(&["doctor"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("\nproblem  schema "), "{ran}");
    assert!(ran.stdout.contains("-> run \"fairgate migrate\"\n"), "{ran}");
}
