//! Golden plans: each hot statement, on big tables, by the index that it must use. A lost index is a red test.

use fairgate::queue::{GraphileWorker, Queue};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::world::{World, capped};

/// 20,000 partitions, half of them with 100,000 jobs waiting, a fifth of which are scheduled, and 20,000 jobs in flight.
const SEED: &str = "
    INSERT INTO fairgate.shard (policy_id, name) SELECT id, 'default' FROM fairgate.policy;
    INSERT INTO fairgate.partition (id, policy_id, shard_id, key, context)
    SELECT fairgate.partition_id(p.id, 't' || n), p.id, s.id, 't' || n, '{}'
      FROM fairgate.policy p JOIN fairgate.shard s ON s.policy_id = p.id, generate_series(1, 20000) n;
    INSERT INTO fairgate.partition_state (id, shard_id, in_flight, pending, due_at, touched_at, recent_at, removing)
    SELECT id, shard_id, CASE WHEN n % 2 = 0 THEN 2 ELSE 0 END, CASE WHEN n % 2 = 0 THEN 8 ELSE 0 END,
           CASE WHEN n % 2 = 0 THEN now() - n * interval '1 s' END, now() - n * interval '1 min', now(), CASE WHEN n % 100 = 1 THEN pg_current_xact_id() END
      FROM (SELECT *, row_number() OVER () AS n FROM fairgate.partition) x;
    INSERT INTO fairgate.staged (job_id, admission_id, partition_id, policy_id, ready_at, staged_at, ready, partition_key, task, payload, context)
    SELECT gen_random_uuid(), gen_random_uuid(), s.id, p.policy_id, now() + (n - 9) * interval '1 h', now(), n < 9, p.key, 'work', '{}', '{}'
      FROM fairgate.partition_state s JOIN fairgate.partition p USING (id), generate_series(1, 10) n WHERE s.pending > 0;
    INSERT INTO fairgate.in_flight (admission_id, job_id, partition_id, policy_id, queue_id, admitted_at, queue_job_id, limits)
    SELECT gen_random_uuid(), gen_random_uuid(), s.id, p.policy_id, 1, now() - n * interval '1 h', n, '{}'
      FROM fairgate.partition_state s JOIN fairgate.partition p USING (id), generate_series(1, 2) n WHERE s.pending > 0;
    ANALYZE fairgate.partition, fairgate.partition_state, fairgate.staged, fairgate.in_flight, fairgate.shard, fairgate.policy, fairgate.delta";

async fn seeded() -> World {
    let world = World::new(vec![capped("p", 2.0)]).await;
    world.execute(SEED).await;
    world
}

/// The big tables. A sequential scan of one of them is a fault; delta has no index and is read whole.
const BIG: [&str; 4] = ["partition_state", "partition", "staged", "in_flight"];

/// The plan of a statement with these arguments, as this session would make it.
async fn plan(conn: &mut PgConnection, sql: &str, arguments: &str) -> String {
    let explain =
        format!("PREPARE hot AS {sql}; EXPLAIN (COSTS OFF) EXECUTE hot {arguments}; DEALLOCATE hot");
    let rows =
        sqlx::raw_sql(AssertSqlSafe(explain)).fetch_all(conn).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    rows.iter().map(|row| sqlx::Row::get::<String, _>(row, 0)).collect::<Vec<_>>().join("\n")
}

fn assert_plan(name: &str, plan: &str, index: &str) {
    let used = [format!(" using {index} on "), format!("Bitmap Index Scan on {index}\n")];
    assert!(used.iter().any(|how| plan.contains(how)), "{name} does not use {index}:\n{plan}");
    for table in BIG {
        let whole = plan.lines().any(|line| {
            line.contains(&format!("Seq Scan on {table} ")) || line.ends_with(&format!("Seq Scan on {table}"))
        });
        assert!(!whole, "{name} reads all of {table}:\n{plan}");
    }
}

#[tokio::test]
async fn the_statements_of_a_tick_use_their_indexes() {
    let world = seeded().await;
    let queue = GraphileWorker::new("graphile_worker").unwrap();
    let take = include_str!("../../queries/admit/take_staged.sql")
        .replace("{queue_id}", &queue.queue_id())
        .replace("{only}", "");
    let record = include_str!("../../queries/admit/record_admissions.sql").replace("{forced}", "false");
    let admit = format!("{take}{}{record}", queue.enqueue());
    let claim = include_str!("../../queries/claim/claim_due_partitions.sql");
    let settle = include_str!("../../queries/settle/settle_partitions.sql");
    let mut conn = world.db.connect().await;
    sqlx::raw_sql(include_str!("../../queries/claim/begin.sql")).execute(&mut conn).await.unwrap();
    let hot = [
        ("claim", claim, "(1, 1, 50, NULL, 4)", "partition_due"),
        (
            "admit",
            &admit,
            "(NULL, NULL, NULL, NULL, NULL, 'p', 1, 1, now(), false, false, NULL)",
            "staged_order",
        ),
        (
            "settle",
            settle,
            "(now(), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, 0, 0, 0, '{}', NULL)",
            "partition_state_pkey",
        ),
        ("isolate", include_str!("../../queries/isolate/first_waiting_job.sql"), "(NULL)", "staged_order"),
        (
            "postpone",
            include_str!("../../queries/isolate/postpone_refused.sql"),
            "(NULL, '', 5, NULL)",
            "staged_pkey",
        ),
        (
            "quarantine",
            include_str!("../../queries/isolate/quarantine_refused.sql"),
            "(NULL, '', NULL)",
            "staged_pkey",
        ),
    ];
    for (name, sql, arguments, index) in hot {
        let plan = plan(&mut conn, sql, arguments).await;
        assert_plan(name, &plan, index);
        assert!(
            !plan.contains("Sort Key: s.") || name == "settle",
            "{name} sorts what the index has in order:\n{plan}"
        );
    }
}

#[tokio::test]
async fn the_statements_between_ticks_use_their_indexes_with_generic_and_custom_plans() {
    let world = seeded().await;
    let mut conn = world.db.connect().await;
    let nil = "'00000000-0000-0000-0000-000000000000'";
    let hot = [
        (
            "open lanes",
            include_str!("../../queries/lane/list_open_lanes.sql"),
            "(NULL, NULL, NULL)".to_owned(),
            "partition_due",
        ),
        (
            "next scheduled",
            include_str!("../../queries/lane/next_scheduled_wait.sql"),
            "(NULL)".to_owned(),
            "staged_future",
        ),
        (
            "idle partitions",
            include_str!("../../queries/sweep/list_idle_partitions.sql"),
            format!("('1 h', NULL, {nil}, 5000)"),
            "partition_state_pkey",
        ),
        (
            "mark",
            include_str!("../../queries/sweep/mark_removing.sql"),
            format!("(ARRAY[{nil}::uuid])"),
            "partition_state_pkey",
        ),
        (
            "delete marked",
            include_str!("../../queries/sweep/delete_marked.sql"),
            "('1 h', NULL)".to_owned(),
            "partition_removing",
        ),
        (
            "quiet admissions",
            include_str!("../../queries/sweep/list_quiet_admissions.sql"),
            format!("(1, '1 h', NULL, {nil})"),
            "in_flight_pkey",
        ),
        (
            "free gone",
            include_str!("../../queries/sweep/free_gone.sql"),
            format!("(ARRAY[{nil}::uuid])"),
            "in_flight_pkey",
        ),
        (
            "explain a job",
            include_str!("../../queries/explain/find_staged.sql"),
            format!("({nil})"),
            "staged_pkey",
        ),
        (
            "what goes before a job",
            include_str!("../../queries/explain/count_ahead.sql"),
            format!("({nil}, NULL, NULL)"),
            "staged_order",
        ),
        (
            "explain a partition",
            include_str!("../../queries/explain/read_partition.sql"),
            format!("(1, {nil}, NULL)"),
            "staged_order",
        ),
        (
            "explain a turn",
            include_str!("../../queries/explain/read_rivals.sql"),
            format!("(1, {nil}, NULL)"),
            "partition_due",
        ),
        (
            "lock for a forced admission",
            include_str!("../../queries/force/lock_partitions.sql"),
            format!("(ARRAY[{nil}::uuid])"),
            "partition_state_pkey",
        ),
        (
            "read for a forced admission",
            include_str!("../../queries/force/read_partitions.sql"),
            format!("(1, ARRAY[{nil}::uuid], NULL)"),
            "partition_state_pkey",
        ),
    ];
    for mode in ["force_generic_plan", "force_custom_plan"] {
        sqlx::raw_sql(AssertSqlSafe(format!("SET plan_cache_mode = {mode}")))
            .execute(&mut conn)
            .await
            .unwrap();
        for (name, sql, arguments, index) in &hot {
            assert_plan(&format!("{name} ({mode})"), &plan(&mut conn, sql, arguments).await, index);
        }
    }
}

/// Scans of tables and indexes that this transaction has made, as `name count`.
async fn scans(conn: &mut PgConnection) -> Vec<(String, i64)> {
    let sql = "SELECT relname::text, pg_stat_get_xact_numscans(oid) FROM pg_class WHERE relnamespace = 'fairgate'::regnamespace AND relkind IN ('r', 'i')
                ORDER BY relname";
    sqlx::query_as(sql).fetch_all(conn).await.expect("the counts")
}

#[tokio::test]
async fn the_statements_inside_our_functions_use_their_indexes() {
    let world = seeded().await;
    world.stage("p", "t2", 2).await;
    world.stage("p", "a new one", 1).await;
    world.execute("INSERT INTO fairgate.delta (partition_id, staged) SELECT id, 0 FROM fairgate.partition LIMIT 3000").await;
    let mut conn = world.db.connect().await;
    let calls: [(&str, &[&str]); 8] = [
        ("fairgate.promote(5000, now())", &["staged_future"]),
        ("fairgate.absorb(5000, '{}', now())", &["partition_state_pkey", "partition_pkey"]),
        (
            "fairgate.locked_partitions(ARRAY (SELECT fairgate.partition_id(1, 't' || n) FROM generate_series(1, 50) n))",
            &["partition_pkey"],
        ),
        (
            "fairgate.finished((SELECT admission_id FROM fairgate.in_flight ORDER BY 1 LIMIT 1), 'success')",
            &["in_flight_pkey"],
        ),
        ("fairgate.heartbeat('00000000-0000-0000-0000-000000000000')", &["in_flight_pkey"]),
        ("fairgate.started('00000000-0000-0000-0000-000000000000')", &["in_flight_pkey"]),
        ("fairgate.cancel((SELECT job_id FROM fairgate.staged ORDER BY 1 LIMIT 1))", &["staged_pkey"]),
        ("fairgate.stage('p', 'work', '{}', partition_key => 't9')", &[]),
    ];
    for (call, indexes) in calls {
        let mut tx = conn.begin().await.unwrap();
        sqlx::raw_sql("SET LOCAL enable_seqscan = on").execute(&mut *tx).await.unwrap();
        let before = scans(&mut tx).await;
        sqlx::raw_sql(AssertSqlSafe(format!("SELECT FROM {call}")))
            .execute(&mut *tx)
            .await
            .unwrap_or_else(|e| panic!("{call}: {e}"));
        let after = scans(&mut tx).await;
        tx.rollback().await.unwrap();
        let made = |name: &str| {
            let count =
                |of: &[(String, i64)]| of.iter().find(|(n, _)| n == name).map_or(0, |(_, count)| *count);
            count(&after) - count(&before)
        };
        for index in indexes {
            assert!(made(index) > 0, "{call} does not use {index}");
        }
        for table in BIG {
            assert_eq!(made(table), 0, "{call} reads all of {table}");
        }
    }
}
