//! Golden plans of the statements of scopes, among 20,000 partitions that wait and 2,000 scopes.

use sqlx::AssertSqlSafe;

use super::per_account;
use crate::world::World;

const SEED: &str = "
    INSERT INTO fairgate.shard (policy_id, name) SELECT id, 'default' FROM fairgate.policy;
    INSERT INTO fairgate.scope (id, policy_id, kind, gate, key, context, touched_at, waited, due_at)
    SELECT fairgate.scope_id(p.id, 'concurrency', 'concurrency', n::text), p.id, 'concurrency', 'concurrency', n::text, '{}', now(), n % 2 = 0,
           CASE WHEN n % 100 = 0 THEN now() END FROM fairgate.policy p, generate_series(1, 2000) n;
    INSERT INTO fairgate.partition_state (id, shard_id, pending, due_at, waiting_on, waiting_since, scopes, touched_at, recent_at)
    SELECT gen_random_uuid(), s.id, 1, CASE WHEN n % 2 = 1 THEN now() END, CASE WHEN n % 2 = 0 THEN k.id END, now(), ARRAY[k.id], now(), now()
      FROM fairgate.shard s, generate_series(1, 20000) n JOIN fairgate.scope k ON k.key = (n % 2000 + 1)::text;
    ANALYZE fairgate.partition_state, fairgate.scope, fairgate.policy, fairgate.shard";

#[tokio::test]
async fn the_statements_of_scopes_use_their_indexes() {
    let world = World::new(vec![per_account("p", 2.0)]).await;
    world.execute(SEED).await;
    let mut conn = world.db.connect().await;
    sqlx::raw_sql(include_str!("../../../queries/claim/begin.sql")).execute(&mut conn).await.expect("begun");
    let among = include_str!("../../../queries/claim/claim_due_partitions.sql")
        .replace("/*among*/", " AND s.id = ANY ($6)");
    let nothing = "(now(), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL)";
    let hot = [
        ("peek", include_str!("../../../queries/scopes/peek.sql"), "(1, NULL, '{}', 100)", "partition_due"),
        ("lock", include_str!("../../../queries/scopes/lock_scopes.sql"), "('{}', NULL)", "scope_pkey"),
        ("settle", include_str!("../../../queries/scopes/settle_scopes.sql"), nothing, "scope_pkey"),
        (
            "settle places",
            include_str!("../../../queries/scopes/settle_scopes.sql"),
            nothing,
            "partition_state_pkey",
        ),
        ("due", include_str!("../../../queries/scopes/lock_due_scopes.sql"), "(1, NULL)", "scope_due"),
        (
            "wake",
            include_str!("../../../queries/scopes/wake_waiting.sql"),
            "(now(), '{}', '{}', '{}', '{}', '{}')",
            "partition_waiting",
        ),
        (
            "policies",
            include_str!("../../../queries/scopes/list_waking_policies.sql"),
            "(NULL, NULL)",
            "scope_due",
        ),
        ("claim among", &among, "(1, 1, 50, NULL, 1, '{}')", "partition_state_pkey"),
    ];
    for (name, sql, arguments, index) in hot {
        let explain =
            format!("PREPARE hot AS {sql}; EXPLAIN (COSTS OFF) EXECUTE hot {arguments}; DEALLOCATE hot");
        let rows = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_all(&mut conn).await;
        let rows = rows.unwrap_or_else(|e| panic!("{name}: {e}"));
        let plan: Vec<String> = rows.iter().map(|row| sqlx::Row::get(row, 0)).collect();
        let plan = plan.join("\n");
        assert!(plan.contains(index), "{name} does not use {index}:\n{plan}");
        assert!(
            !plan.contains("Seq Scan on partition_state") && !plan.contains("Seq Scan on scope"),
            "{name}:\n{plan}"
        );
    }
}
