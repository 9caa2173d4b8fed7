//! status, policies, partitions.

use fairgate_testkit::TestDb;
use insta::assert_snapshot;

use crate::support::{PLAIN, User};

async fn user_with_jobs(database: &TestDb) -> User {
    let user = User::with_policies(database, PLAIN);
    let lines = "\
{\"task\":\"t\",\"context\":{\"account_id\":\"acct:1\"}}
{\"task\":\"t\",\"context\":{\"account_id\":\"acct:2\"}}
{\"task\":\"t\",\"context\":{\"account_id\":\"acct:2\"}}
{\"task\":\"t\",\"context\":{\"account_id\":\"\\u001b[31m\"},\"run_at\":\"2999-01-01T00:00:00Z\"}
";
    user.run_with(&["stage", "webhooks", "--ndjson", "-"], lines).succeeds();
    // What a ticker does first: it folds the reports of stagers into the counters.
    let mut connection = database.connect().await;
    fairgate::absorb::absorb(&mut connection, None).await.unwrap();
    user
}

#[tokio::test]
async fn an_empty_database_says_what_comes_next() {
    let database = TestDb::new().await;
    let user = User::of(&database);
    assert_snapshot!(user.run(&["status"]));
    assert_snapshot!(user.run(&["policies"]));
}

#[tokio::test]
async fn status_counts_what_waits() {
    let database = TestDb::new().await;
    let user = user_with_jobs(&database).await;
    let json = user.run(&["status", "--json"]).succeeds().json();
    assert_eq!((&json["enabled"], &json["tickers"]), (&true.into(), &0.into()));
    let policy = &json["policies"][0];
    assert_eq!(
        (&policy["name"], &policy["queue"], &policy["queue_ready"]),
        (&"webhooks".into(), &"main".into(), &true.into())
    );
    assert_eq!(
        (&policy["partitions"], &policy["pending"], &policy["scheduled"]),
        (&3.into(), &3.into(), &1.into())
    );
    assert_eq!((&policy["in_flight"], &policy["quarantined"]), (&0.into(), &0.into()));
    let text = user.run(&["status"]).succeeds().stdout;
    let row: Vec<&str> = text.lines().last().unwrap().split_whitespace().take(6).collect();
    assert_eq!(row, ["webhooks", "admitting", "3", "3", "1", "0"]);
}

#[tokio::test]
async fn policies_show_their_rules() {
    let database = TestDb::new().await;
    let gates = "\n[[policies.webhooks.gates]]\ntype = \"throttle\"\nname = \"per_minute\"\nrate = 60\nper = \"1m\"\n\
                 \n[[policies.webhooks.gates]]\ntype = \"concurrency\"\nmax = 3\n";
    let user = User::with_policies(&database, &format!("{PLAIN}{gates}"));
    assert_snapshot!(user.run(&["policies"]));
    let json = user.run(&["policies", "--json"]).succeeds().json();
    assert_eq!(json["policies"][0]["definition"]["gates"][1]["max"].as_f64(), Some(3.0));
}

#[tokio::test]
async fn partitions_are_listed_with_the_fullest_first() {
    let database = TestDb::new().await;
    let user = user_with_jobs(&database).await;
    assert_snapshot!(user.run(&["partitions", "webhooks"]));
    assert_snapshot!(user.run(&[
        "partitions",
        "webhooks",
        "--search",
        "acct",
        "--sort",
        "key",
        "--limit",
        "1"
    ]));
    assert_snapshot!(user.run(&["partitions", "webhooks", "--search", "%"]));
    let json = user.run(&["partitions", "webhooks", "--json"]).succeeds().json();
    assert_eq!(json["policy"], "webhooks");
    assert_eq!(json["partitions"][0]["key"], "acct:2");
    assert_eq!(json["partitions"][0]["pending"], 2);
    assert_eq!(json["partitions"][0]["context"]["account_id"], "acct:2");
}

#[tokio::test]
async fn partitions_of_an_unknown_policy_are_refused() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_snapshot!(user.run(&["partitions", "mail"]));
}

#[test]
fn a_sort_that_does_not_exist_names_those_that_do() {
    assert_snapshot!(User::new().run(&["partitions", "webhooks", "--sort", "size"]));
}

#[tokio::test]
async fn status_tells_of_retries_that_lost_their_dedupe_key() {
    let database = TestDb::new().await;
    let user = User::with_policies(&database, PLAIN);
    assert_eq!(user.run(&["status", "--json"]).succeeds().json()["lost_keys"], 0);
    let lost = "INSERT INTO fairgate.lost_key (policy_id, job_id, key) SELECT id, gen_random_uuid(), 'k' FROM fairgate.policy LIMIT 1";
    sqlx::raw_sql(lost).execute(database.pool()).await.unwrap();
    assert_eq!(user.run(&["status", "--json"]).succeeds().json()["lost_keys"], 1);
    let text = user.run(&["status"]).succeeds().stdout;
    let line = text.lines().nth(1).unwrap();
    assert!(line.starts_with("1 job lost its key: while a failed attempt waited"), "{line}");
}
