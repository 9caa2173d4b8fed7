//! Staging: the caller's transaction, any number of jobs, no lock that anybody else could wait for.

use sqlx::Acquire;

use crate::doors::{DOORS, Door, Draft};
use crate::statements::Statements;
use crate::wait::impatient;
use crate::world::{World, capped, job, open};

#[tokio::test]
async fn a_staged_job_shows_with_its_transaction_and_a_rolled_back_one_leaves_nothing() {
    let mut world = World::new(vec![open("p")]).await;
    let mut conn = world.db.connect().await;
    for door in DOORS {
        let mut tx = conn.begin().await.unwrap();
        door.stage(&mut tx, "p", &[Draft::of("gone")]).await.unwrap();
        assert_eq!(world.settle().await, 0, "{door:?}: before the end of the transaction");
        tx.rollback().await.unwrap();
        assert_eq!(world.settle().await, 0, "{door:?}: rolled back");
        let left = "SELECT (SELECT count(*) FROM fairgate.staged) + (SELECT count(*) FROM fairgate.delta) \
                         + (SELECT count(*) FROM fairgate.partition WHERE key = 'gone')";
        assert_eq!(world.number(left).await, 0, "{door:?}: rolled back");

        let mut tx = conn.begin().await.unwrap();
        door.stage(&mut tx, "p", &[Draft::of("kept")]).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(world.pass().await.ticks.jobs_admitted, 1, "{door:?}: the first tick after the commit");
    }
    world.audit().await;
}

#[tokio::test]
async fn transactions_that_stage_new_keys_crosswise_do_not_wait_for_each_other() {
    let mut world = World::new(vec![open("p")]).await;
    let (mut one, mut two) = (world.db.connect().await, world.db.connect().await);
    impatient(&mut one).await;
    impatient(&mut two).await;
    for door in DOORS {
        let (mut first, mut second) = (one.begin().await.unwrap(), two.begin().await.unwrap());
        let (a, b) = ([Draft::of(&format!("a by {door:?}"))], [Draft::of(&format!("b by {door:?}"))]);
        door.stage(&mut first, "p", &a).await.unwrap();
        door.stage(&mut second, "p", &b).await.unwrap();
        door.stage(&mut first, "p", &b).await.unwrap();
        door.stage(&mut second, "p", &a).await.unwrap();
        first.commit().await.unwrap();
        second.commit().await.unwrap();
    }
    assert_eq!(world.settle().await, 16);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.partition").await, 8);
    world.audit().await;
}

#[tokio::test]
async fn staging_and_cancelling_never_wait_for_a_ticker_that_holds_the_partition() {
    let mut world = World::new(vec![capped("p", 1.0)]).await;
    let waiting = world.stage("p", "a", 3).await;
    assert_eq!(world.settle().await, 1);

    // Everything that a tick ever locks, and more firmly than it does.
    let mut ticker = world.db.connect().await;
    let mut tick = ticker.begin().await.unwrap();
    sqlx::raw_sql(
        "SELECT FROM fairgate.partition_state FOR UPDATE; SELECT FROM fairgate.partition FOR UPDATE;
         SELECT FROM fairgate.in_flight FOR UPDATE; SELECT FROM fairgate.shard FOR UPDATE;
         SELECT pg_advisory_xact_lock_shared(1181114740, (SELECT id FROM fairgate.policy))",
    )
    .execute(&mut *tick)
    .await
    .unwrap();

    let mut producer = world.db.connect().await;
    impatient(&mut producer).await;
    for door in DOORS {
        door.stage(&mut producer, "p", &[Draft::of("a"), Draft::of("b")]).await.unwrap();
    }
    assert!(fairgate::cancel(&mut producer, waiting[2].job_id).await.unwrap());
    assert_eq!(world.pass().await.ticks.jobs_admitted, 1, "b alone: the tick that holds a is passed over");
    tick.rollback().await.unwrap();
    world.settle().await;
    assert_eq!(world.number("SELECT count(*) FROM fairgate.delta").await, 0);
    assert_eq!(world.number("SELECT pending FROM fairgate.partitions WHERE key = 'a'").await, 5);
    world.audit().await;
}

#[tokio::test]
async fn a_quarter_of_a_million_jobs_go_in_one_call_of_a_few_statements() {
    const JOBS: usize = 250_000;
    let mut world = World::new(vec![open("p")]).await;
    let jobs: Vec<_> = (0..JOBS).map(|n| job(&format!("t{}", n % 100))).collect();
    let mut conn = world.conn().await;
    let statements = Statements::listen();
    let staged = fairgate::stage_many(&mut conn, "p", &jobs).await.unwrap();
    let carried_out = statements.take();
    drop(conn);
    assert_eq!(staged.len(), JOBS);
    assert!(staged.is_sorted_by(|a, b| a.job_id < b.job_id), "ids stand in the order of the jobs");
    assert_eq!(carried_out.len(), JOBS / 10_000 + 1, "one per 10,000, and commit: {carried_out:?}");
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 250_000);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.delta").await, 2_500);
    world.pass().await;
    assert_eq!(world.number("SELECT count(*) FROM fairgate.partition").await, 100);
    world.audit().await;
}

#[tokio::test]
async fn a_bulk_call_in_sql_is_one_statement_however_many_jobs_it_brings() {
    let world = World::new(vec![open("p")]).await;
    let jobs =
        "SELECT json_agg(json_build_object('task', 'work', 'context', json_build_object('tenant', n % 50)))
                  FROM generate_series(1, 20000) n";
    let answers = format!("SELECT count(DISTINCT job_id) FROM fairgate.stage_many('p', ({jobs}))");
    assert_eq!(world.number(&answers).await, 20_000);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.staged").await, 20_000);
    assert_eq!(world.number("SELECT count(*) FROM fairgate.delta").await, 50, "one report per partition");
    world.audit().await;
}

#[tokio::test]
async fn one_bad_job_among_many_is_named_and_nothing_of_the_call_is_left() {
    let world = World::new(vec![open("p")]).await;
    let mut jobs: Vec<Draft> = (0..10_050).map(|n| Draft::of(&format!("t{n}"))).collect();
    jobs[10_041].priority = 40_000;
    for door in [Door::RustMany, Door::SqlMany] {
        let error = door.stage(&mut *world.conn().await, "p", &jobs).await.unwrap_err().to_string();
        assert_eq!(error, "job 10042: priority 40000 is out of range, queue \"main\" takes -32768 to 32767");
        let left = "SELECT (SELECT count(*) FROM fairgate.staged) + (SELECT count(*) FROM fairgate.delta)";
        assert_eq!(world.number(left).await, 0, "{door:?}");
    }
}

#[tokio::test]
async fn a_failed_bulk_call_leaves_the_callers_transaction_usable() {
    let mut world = World::new(vec![open("p")]).await;
    let mut conn = world.db.connect().await;
    let mut tx = conn.begin().await.unwrap();
    fairgate::stage(&mut tx, "p", &job("before")).await.unwrap();
    let bad = [job("a"), job("a").max_attempts(0)];
    fairgate::stage_many(&mut tx, "p", &bad).await.unwrap_err();
    fairgate::stage(&mut tx, "p", &job("after")).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(world.settle().await, 2);
}

#[tokio::test]
async fn a_run_at_outside_of_the_years_1970_to_9999_is_refused_by_every_door() {
    let world = World::new(vec![open("p")]).await;
    let at = |text: &str| Some(text.parse::<chrono::DateTime<chrono::Utc>>().expect("a time"));
    for door in crate::doors::DOORS {
        for wrong in ["1969-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "+10000-01-01T00:00:00Z"] {
            // JSON has no year of five digits.
            if wrong.starts_with('+') && door == crate::doors::Door::SqlMany {
                continue;
            }
            let draft = crate::doors::Draft { run_at: at(wrong), ..crate::doors::Draft::of("a") };
            let error = door.stage(&mut *world.conn().await, "p", &[draft]).await.unwrap_err();
            let message = error.to_string();
            assert!(matches!(error, fairgate::StageError::BadJob { .. }), "{door:?}, {wrong}: {message}");
            assert!(message.ends_with("outside of the years 1970 to 9999"), "{door:?}, {wrong}: {message}");
        }
        let edges = ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]
            .map(|edge| crate::doors::Draft { run_at: at(edge), ..crate::doors::Draft::of("a") });
        door.stage(&mut *world.conn().await, "p", &edges).await.expect("staged");
    }
    for wrong in ["infinity", "-infinity"] {
        let sql =
            format!("SELECT fairgate.stage('p', 't', '{{}}', '{{\"tenant\": \"a\"}}', run_at => '{wrong}')");
        let error = sqlx::query(sqlx::AssertSqlSafe(sql)).execute(world.pool()).await.unwrap_err();
        assert!(error.to_string().contains("outside of the years 1970 to 9999"), "{error}");
    }
}
