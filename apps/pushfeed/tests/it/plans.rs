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
            if mode == "force_generic_plan" && name == "events" {
                continue;
            }
            let explain = format!(
                "SET plan_cache_mode = {mode}; PREPARE hot AS {sql}; EXPLAIN (COSTS OFF) EXECUTE hot {arguments}; DEALLOCATE hot"
            );
            let rows = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_all(&mut conn).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
            let plan = plan.join("\n");
            assert!(plan.contains(index), "{name} ({mode}) does not use {index}:\n{plan}");
            assert!(
                !plan.contains("Seq Scan on entity") && !plan.contains("Seq Scan on push_event"),
                "{name} ({mode}) reads all:\n{plan}"
            );
        }
    }
}
