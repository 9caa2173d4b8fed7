//! The statements that look for candidates, on big tables, by the index that they must use.

use sqlx::{AssertSqlSafe, Row};

use crate::support::Feed;

/// 60,000 entities: few are pending, many were given up, and most are complete.
const SEED: &str = "
    INSERT INTO pushfeed.entity (kind, id, login, full_name, state, document, fetched_at, created_at, last_seen_at)
    SELECT kind, n, CASE kind WHEN 'actor' THEN 'a' END, CASE kind WHEN 'repository' THEN 'a/r' END,
           CASE WHEN n % 10 = 0 THEN 'pending' WHEN n % 10 < 4 THEN 'skipped_budget' ELSE 'complete' END,
           '{}', now() - n * interval '1 s', now() - n * interval '1 s', now() - n * interval '1 s'
      FROM generate_series(1, 30000) n, (VALUES ('actor'), ('repository')) k (kind);
    INSERT INTO pushfeed.push_event (github_id, created_at, received_at, actor_id, repository_id, ref, head, raw)
    SELECT n, now(), now(), n % 500, n % 700, 'x', repeat('a', 40), '{}' FROM generate_series(1, 50000) n;
    ANALYZE pushfeed.entity, pushfeed.push_event";

#[tokio::test]
async fn candidates_of_both_pools_are_found_by_their_partial_indexes() {
    let feed = Feed::of("default").await;
    feed.execute(SEED).await;
    let hour = "'1 hour'";
    let hot = [
        (
            "lease new",
            include_str!("../../queries/enrich/lease_new.sql"),
            format!("('actor', {hour}, {hour})"),
            "entity_new",
        ),
        (
            "lease stale",
            include_str!("../../queries/enrich/lease_stale.sql"),
            format!("('actor', {hour}, {hour})"),
            "entity_stale",
        ),
        (
            "census",
            include_str!("../../queries/enrich/census.sql"),
            format!("({hour}, {hour}, {hour})"),
            "entity_new",
        ),
        (
            "census",
            include_str!("../../queries/enrich/census.sql"),
            format!("({hour}, {hour}, {hour})"),
            "entity_stale",
        ),
        (
            "age out",
            include_str!("../../queries/enrich/age_out.sql"),
            format!("({hour}, 1000)"),
            "entity_age",
        ),
        (
            "status",
            include_str!("../../queries/status/entities.sql"),
            format!("('actor', {hour})"),
            "entity_seen",
        ),
        (
            "search",
            include_str!("../../queries/enrich/can_search.sql"),
            format!("({hour}, '^a$', '^a/r$')"),
            "Index Scan using entity_",
        ),
        (
            "lease batch",
            include_str!("../../queries/enrich/lease_batch.sql"),
            format!("('actor', {hour}, {hour}, '^a$', 10)"),
            "Index Scan using entity_",
        ),
        (
            "events",
            include_str!("../../queries/web/push_events.sql"),
            "(40000, 50, 7, NULL, NULL)".to_owned(),
            "push_event_actor",
        ),
        (
            "events",
            include_str!("../../queries/web/push_events.sql"),
            "(40000, 50, NULL, NULL, NULL)".to_owned(),
            "push_event_pkey",
        ),
    ];
    let mut conn = feed.db.connect().await;
    for (name, sql, arguments, index) in hot {
        for mode in ["force_custom_plan", "force_generic_plan"] {
            // These are planned for their arguments each time.
            if mode == "force_generic_plan" && (name == "events" || name == "status") {
                continue;
            }
            let explain = format!(
                "SET plan_cache_mode = {mode}; PREPARE hot AS {sql}; EXPLAIN (COSTS OFF) EXECUTE hot {arguments}; DEALLOCATE hot"
            );
            let rows = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_all(&mut conn).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
            let plan = plan.join("\n");
            // The sums, which are few rows, are read as they stand.
            let tables = plan.replace("Seq Scan on entity_count", "");
            assert!(plan.contains(index), "{name} ({mode}) does not use {index}:\n{plan}");
            assert!(
                !tables.contains("Seq Scan on entity") && !tables.contains("Seq Scan on push_event"),
                "{name} ({mode}) reads all:\n{plan}"
            );
        }
    }
}

/// The sums by the triggers, and the table's own.
const SUMS: &str = "SELECT kind || ' ' || state || ' ' || sum(more) FROM pushfeed.entity_count GROUP BY kind, state HAVING sum(more) <> 0 ORDER BY 1";
const TRUTH: &str =
    "SELECT kind || ' ' || state || ' ' || count(*) FROM pushfeed.entity GROUP BY kind, state ORDER BY 1";

#[tokio::test]
async fn counts_of_states_stay_true_through_every_kind_of_change_and_through_folding() {
    let feed = Feed::of("default").await;
    feed.polled().await;
    for _ in 0..7 {
        feed.enrich().await;
        assert_eq!(feed.column(SUMS).await, feed.column(TRUTH).await);
    }
    for change in [
        SEED,
        "UPDATE pushfeed.entity SET state = 'skipped_budget' WHERE id % 7 = 0",
        "UPDATE pushfeed.entity SET kind = 'repository', login = NULL, full_name = 'a/r', id = -id WHERE kind = 'actor' AND id < 100",
        "DELETE FROM pushfeed.entity WHERE id % 3 = 0",
        "INSERT INTO pushfeed.entity (kind, id, login, created_at) SELECT 'actor', n, 'a', now() FROM generate_series(1, 50) n ON CONFLICT (kind, id) DO UPDATE SET state = 'pending'",
        "BEGIN; DELETE FROM pushfeed.entity; ROLLBACK",
    ] {
        feed.execute(change).await;
        assert_eq!(feed.column(SUMS).await, feed.column(TRUTH).await, "{change}");
    }
    for n in 0..150 {
        feed.execute(&format!("INSERT INTO pushfeed.entity (kind, id, login, created_at) VALUES ('actor', 10000000 + {n}, 'a', now())")).await;
    }
    let fold = include_str!("../../queries/enrich/fold_counts.sql");
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let pool = feed.db.pool().clone();
        tasks.spawn(async move { sqlx::query(fold).execute(&pool).await.unwrap() });
    }
    tasks.join_all().await;
    assert_eq!(feed.column(SUMS).await, feed.column(TRUTH).await);
    assert!(feed.value("SELECT count(*) FROM pushfeed.entity_count").await.parse::<u32>().unwrap() <= 100);
    feed.execute("TRUNCATE pushfeed.entity").await;
    assert_eq!(feed.column(SUMS).await, Vec::<String>::new());
}
