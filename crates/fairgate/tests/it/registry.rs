//! Policies and queues as registered: revisions, retirement, names that nobody knows.

use std::sync::Arc;
use std::time::Duration;

use fairgate::queue::GraphileWorker;
use fairgate::registry::{Applied, ApplyError, Options, PolicyOutcome, QueueSpec, Source, apply};
use fairgate::{Policy, Settings, StageError};
use sqlx::Acquire;

use crate::doors::{DOORS, Draft};
use crate::wait::impatient;
use crate::world::{World, builder, capped, job, open, policy, queued, ticker};

const FILE: Options = Options { source: Source::File, revision: None, hooks: true, go_back: false };

fn at(revision: u32) -> Options {
    Options { revision: Some(revision), ..FILE }
}

fn main_queue() -> [QueueSpec; 1] {
    let queue = Arc::new(GraphileWorker::new("graphile_worker").expect("a name"));
    [QueueSpec { name: "main".parse().expect("a name"), queue, max_waiting: None }]
}

async fn register(world: &World, policies: &[Policy], options: Options) -> Result<Applied, ApplyError> {
    apply(&mut *world.conn().await, &main_queue(), policies, options).await
}

async fn outcomes(world: &World, policies: &[Policy], options: Options) -> Vec<PolicyOutcome> {
    let applied = register(world, policies, options).await.expect("applied");
    applied.policies.into_iter().map(|p| p.1).collect()
}

/// What becomes of one policy.
async fn outcome(world: &World, policy: &Policy, options: Options) -> PolicyOutcome {
    outcomes(world, std::slice::from_ref(policy), options).await.remove(0)
}

const IN_FORCE: &str = "SELECT revision || ': ' || (definition #>> '{gates,0,max}')::float8 FROM fairgate.policies WHERE name = 'p'";

#[tokio::test]
async fn without_revision_numbers_what_was_in_force_before_counts_as_older() {
    use PolicyOutcome::*;
    let world = World::new(vec![]).await;
    let (one, two, three) = (capped("p", 1.0), capped("p", 2.0), capped("p", 3.0));
    assert_eq!(outcome(&world, &one, FILE).await, Registered { revision: 1 });
    assert_eq!(outcome(&world, &one, FILE).await, Unchanged { revision: 1 });
    assert_eq!(outcome(&world, &two, FILE).await, Updated { revision: 2 });
    assert_eq!(outcome(&world, &one, FILE).await, OlderLeftAlone { registered: 2 });
    assert_eq!(outcome(&world, &three, FILE).await, Updated { revision: 3 });
    assert_eq!(outcome(&world, &two, FILE).await, OlderLeftAlone { registered: 3 });
    assert_eq!(world.text(IN_FORCE).await, "3: 3");
    let back = Options { go_back: true, ..FILE };
    assert_eq!(outcome(&world, &one, back).await, Updated { revision: 4 }, "going back is said");
    assert_eq!(world.text(IN_FORCE).await, "4: 1");
}

#[tokio::test]
async fn explicit_revisions_decide_by_their_number() {
    use PolicyOutcome::*;
    let world = World::new(vec![]).await;
    let (one, two) = (capped("p", 1.0), capped("p", 2.0));
    assert_eq!(outcome(&world, &one, at(5)).await, Registered { revision: 5 });
    assert_eq!(outcome(&world, &two, at(4)).await, OlderLeftAlone { registered: 5 });
    assert_eq!(outcome(&world, &one, at(5)).await, Unchanged { revision: 5 });
    assert_eq!(outcome(&world, &one, at(4)).await, Unchanged { revision: 5 });
    assert_eq!(outcome(&world, &two, at(7)).await, Updated { revision: 7 });
    assert_eq!(outcome(&world, &one, at(6)).await, OlderLeftAlone { registered: 7 });
    assert_eq!(
        outcome(&world, &one, at(8)).await,
        Updated { revision: 8 },
        "a number says that going back is meant"
    );
    assert_eq!(world.text(IN_FORCE).await, "8: 1");
}

#[tokio::test]
async fn the_same_revision_with_another_definition_is_refused_and_nothing_is_registered() {
    let world = World::new(vec![]).await;
    register(&world, &[capped("p", 1.0)], at(5)).await.unwrap();
    let error = register(&world, &[open("new"), capped("p", 2.0)], at(5)).await.unwrap_err();
    assert!(matches!(&error, ApplyError::SameRevision { policy, revision: 5 } if policy == "p"), "{error:?}");
    assert_eq!(world.text(IN_FORCE).await, "5: 1");
    assert_eq!(world.column("SELECT name FROM fairgate.policies").await, ["p"]);
}

#[tokio::test]
async fn a_policy_that_goes_to_an_unknown_queue_is_refused_by_name_and_nothing_is_registered() {
    let world = World::new(vec![]).await;
    let lost = Policy::builder("lost").queue("elsewhere").partition_by("tenant").build().unwrap();
    let error = register(&world, &[open("p"), lost], FILE).await.unwrap_err();
    assert_eq!(error.to_string(), "policy \"lost\" goes to queue \"elsewhere\", which is not registered");
    assert_eq!(world.number("SELECT count(*) FROM fairgate.policy").await, 0);
}

#[tokio::test]
async fn a_policy_with_a_scope_is_registered_with_what_staging_must_report() {
    let world = World::new(vec![]).await;
    let scoped = Policy::builder("scoped").queue("main").partition_by("tenant");
    let scoped = scoped.concurrency(|c| c.max_from("n", None).scope("account.id").named("cap"));
    register(&world, &[open("p"), scoped.build().unwrap()], FILE).await.unwrap();
    let scopes = "SELECT scopes::text FROM fairgate.policy WHERE scopes IS NOT NULL";
    assert_eq!(
        world.column(scopes).await,
        [r#"[{"gate": "cap", "kind": "concurrency", "path": ["account", "id"], "reads": true}]"#]
    );
}

#[tokio::test]
async fn a_policy_that_is_gone_from_the_file_is_retired_and_its_jobs_are_kept_until_it_is_back() {
    let mut world = World::new(vec![]).await;
    register(&world, &[open("p"), open("q")], FILE).await.unwrap();
    ticker(world.pool(), vec![open("of_a_program")], Settings::default()).await;
    world.stage("q", "a", 2).await;
    assert_eq!(outcomes(&world, &[open("p")], FILE).await.last(), Some(&PolicyOutcome::Retired));
    let states = "SELECT string_agg(name, ',' ORDER BY name) FROM fairgate.policies WHERE retired";
    assert_eq!(world.text(states).await, "q", "what a program registered is not the file's to retire");
    for door in DOORS {
        let error = door.stage(&mut *world.conn().await, "q", &[Draft::of("a")]).await.unwrap_err();
        let StageError::Retired { message, hint } = &error else { panic!("{door:?}: {error:?}") };
        assert_eq!(message, "policy \"q\" is retired: it is no longer in the configuration");
        assert!(hint.as_deref().unwrap_or_default().contains("fairgate apply"));
    }
    assert_eq!(world.settle().await, 0);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 2);
    outcomes(&world, &[open("p"), open("q")], FILE).await;
    assert_eq!(world.settle().await, 2);
    world.stage("q", "a", 1).await;
    assert_eq!(world.settle().await, 1);
}

#[tokio::test]
async fn staging_to_a_policy_that_is_not_registered_names_it_and_those_that_are() {
    let world = World::new(vec![open("mails"), open("webhooks")]).await;
    for door in DOORS {
        let error = door.stage(&mut *world.conn().await, "web\"hook", &[Draft::of("a")]).await.unwrap_err();
        let StageError::UnknownPolicy { message, hint } = &error else { panic!("{door:?}: {error:?}") };
        assert_eq!(message, "policy \"web\"hook\" is not registered");
        let hint = hint.as_deref().unwrap_or_default();
        assert!(hint.starts_with("Did you mean \"webhooks\"? Registered: mails, webhooks."), "{hint}");
    }
    let error =
        sqlx::query("SELECT fairgate.stage('sms', 't', '{}')").execute(world.pool()).await.unwrap_err();
    let hint = fairgate::DatabaseError { doing: "staging", source: error }.hint().unwrap_or_default();
    assert!(hint.starts_with("Registered: mails"), "nothing is like it: {hint}");
    for call in ["stage(NULL, 't', '{}')", "stage_many(NULL, '[{\"task\": \"t\"}]')"] {
        let sql = sqlx::AssertSqlSafe(format!("SELECT fairgate.{call}"));
        let error = sqlx::query(sql).execute(world.pool()).await.unwrap_err();
        assert!(error.to_string().contains("policy is missing: it is SQL NULL"), "{error}");
    }
}

#[tokio::test]
async fn a_new_definition_acts_on_what_already_waits_for_its_time() {
    let hourly = |rate: f64| {
        policy("p").throttle(move |t| t.rate(rate).per(Duration::from_secs(3600)).burst(1.0)).build().unwrap()
    };
    let mut world = World::new(vec![hourly(1.0)]).await;
    world.stage("p", "a", 3).await;
    assert_eq!(world.settle().await, 1);
    ticker(world.pool(), vec![open("p")], Settings::default()).await;
    assert_eq!(world.settle().await, 2, "the running ticker learns of it by itself");
    assert_eq!(world.text("SELECT revision::text FROM fairgate.policies").await, "2");
}

#[tokio::test]
async fn a_ticker_without_a_policys_closures_leaves_it_alone_and_one_that_has_them_serves_it() {
    let with_closure = || policy("p").concurrency(|c| c.max_fn(|_| 2.0)).build().expect("a policy");
    let mut world = World::new(vec![with_closure(), open("q")]).await;
    world.stage("p", "a", 3).await;
    world.stage("q", "b", 1).await;
    let mut other = builder(world.pool()).build().unwrap();
    let mut conn = world.conn().await;
    for _ in 0..2 {
        other.pass(&mut conn, None, None).await.unwrap();
    }
    assert_eq!((queued(&mut conn, "a").await, queued(&mut conn, "b").await), (0, 1));
    drop(conn);
    assert_eq!(world.settle().await, 2);
}

#[tokio::test]
async fn an_unchanged_apply_takes_no_lock_on_the_queues_busy_table_and_a_lost_trigger_comes_back() {
    let world = World::new(vec![open("p")]).await;
    let mut worker = world.db.connect().await;
    let mut busy = worker.begin().await.unwrap();
    sqlx::raw_sql("LOCK graphile_worker._private_jobs IN ROW EXCLUSIVE MODE")
        .execute(&mut *busy)
        .await
        .unwrap();
    let mut operator = world.db.connect().await;
    impatient(&mut operator).await;
    let applied = apply(&mut operator, &main_queue(), &[open("p")], FILE).await.unwrap();
    assert_eq!(applied.queues[0].1.problem(), None);
    busy.rollback().await.unwrap();

    let hooks = "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'fairgate_%' AND tgenabled = 'O'";
    assert_eq!(world.number(hooks).await, 3);
    world.execute("DROP TRIGGER fairgate_deleted ON graphile_worker._private_jobs; ALTER TABLE graphile_worker._private_jobs DISABLE TRIGGER fairgate_started").await;
    register(&world, &[open("p")], FILE).await.unwrap();
    assert_eq!(world.number(hooks).await, 3);
}

#[tokio::test]
async fn jobs_out_of_the_queues_range_are_refused_at_stage_by_every_door() {
    let world = World::new(vec![open("p")]).await;
    let cases = [
        (
            Draft { priority: -32_769, ..Draft::of("a") },
            "priority -32769 is out of range, queue \"main\" takes -32768 to 32767",
        ),
        (
            Draft { max_attempts: Some(0), ..Draft::of("a") },
            "max_attempts 0 is out of range, queue \"main\" takes 1 to 32767",
        ),
        (Draft { max_attempts: Some(40_000), ..Draft::of("a") }, "max_attempts 40000 is out of range"),
        (
            Draft { task: "x".repeat(129), ..Draft::of("a") },
            "task is 129 characters long, queue \"main\" takes at most 128",
        ),
        (Draft { task: String::new(), ..Draft::of("a") }, "task is missing"),
        (Draft { queue_name: Some(String::new()), ..Draft::of("a") }, "queue_name is empty"),
    ];
    for door in DOORS {
        for (draft, problem) in &cases {
            let error =
                door.stage(&mut *world.conn().await, "p", std::slice::from_ref(draft)).await.unwrap_err();
            assert!(
                matches!(error, StageError::BadJob { .. }) && error.to_string().contains(problem),
                "{door:?}: {error}"
            );
        }
        let edge =
            Draft { priority: 32_767, max_attempts: Some(32_767), task: "ä".repeat(128), ..Draft::of("a") };
        door.stage(&mut *world.conn().await, "p", &[edge]).await.unwrap();
    }
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 4);
    fairgate::stage(&mut *world.conn().await, "p", &job("a").max_attempts(1)).await.unwrap();
}
