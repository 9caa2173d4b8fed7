//! What would go wrong otherwise: each fault is planted, and shows.

use fairgate::NewJob;
use serde_json::json;

use super::{job, per_account};
use crate::world::World;

#[tokio::test]
async fn a_finish_that_frees_the_scopes_of_the_partition_instead_loses_count() {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    world
        .execute(
            "CREATE FUNCTION fairgate.planted() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 UPDATE fairgate.in_flight f SET scopes = s.scopes FROM fairgate.partition_state s WHERE s.id = f.partition_id;
                 RETURN OLD;
             END $$;
             CREATE TRIGGER aa_planted BEFORE DELETE ON graphile_worker._private_jobs FOR EACH ROW EXECUTE FUNCTION fairgate.planted()",
        )
        .await;
    let roaming = |account: &str| {
        NewJob::new("work").context(&json!({ "tenant": "roamer", "account": account })).expect("a context")
    };
    world.stage_jobs("p", &[roaming("a")]).await;
    assert_eq!(world.settle().await, 1);
    world.stage_jobs("p", &[roaming("b"), roaming("b")]).await;
    assert_eq!(world.settle().await, 1);
    world.complete_any(1).await;
    let counts = "SELECT string_agg(s.key || (s.in_flight - coalesce(d.released, 0)), ' ' ORDER BY s.key) FROM fairgate.scope s
                    LEFT JOIN (SELECT scope_id, sum(released) AS released FROM fairgate.scope_delta GROUP BY 1) d ON d.scope_id = s.id";
    assert_eq!(
        world.text(counts).await,
        "a1 b0",
        "what account a held is lost, and account b has a slot too many"
    );
}

/// A cap of one: one job runs, and two others wait. The one that is woken for the free slot has nothing to do any more.
async fn woken_in_vain(planted: Option<&str>) -> u64 {
    let mut world = World::new(vec![per_account("p", 1.0)]).await;
    let mut ids = Vec::new();
    for endpoint in ["a-1", "a-2", "a-3"] {
        ids.push(world.stage_jobs("p", &[job(endpoint, "a")]).await[0].job_id);
        world.settle().await;
    }
    if let Some(sql) = planted {
        world.execute(sql).await;
    }
    world.complete_any(1).await;
    world.absorb().await;
    // As a wake-up does for the longest waiting, whose job is cancelled before a tick looks.
    world
        .execute(
            "UPDATE fairgate.partition_state SET waiting_on = NULL, woken = true, due_at = waiting_since WHERE id =
               (SELECT id FROM fairgate.partition_state WHERE waiting_on IS NOT NULL ORDER BY waiting_since LIMIT 1);
             UPDATE fairgate.scope SET woken = 1, woken_at = clock_timestamp(), due_at = clock_timestamp() + interval '50 ms'",
        )
        .await;
    assert!(fairgate::cancel(&mut *world.conn().await, ids[1]).await.expect("an answer"));
    let mut admitted = 0;
    for ms in [0, 100, 200, 60_000] {
        let at = world.after_ms(ms).await;
        admitted += world.admitted_at(at).await;
    }
    admitted
}

#[tokio::test]
async fn a_wake_up_that_is_used_by_nobody_is_repeated() {
    assert_eq!(woken_in_vain(None).await, 1);
}

#[tokio::test]
async fn a_wake_up_on_the_edge_alone_leaves_a_slot_empty_for_ever() {
    // Only a release sets the time of a wake-up; a wake-up itself sets none.
    let planted = "CREATE FUNCTION fairgate.planted() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.woken_at <> OLD.woken_at THEN NEW.due_at := NULL; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER planted BEFORE UPDATE ON fairgate.scope FOR EACH ROW EXECUTE FUNCTION fairgate.planted()";
    assert_eq!(woken_in_vain(Some(planted)).await, 0);
}

/// A tick parks a partition while a wake-up has its snapshot and not yet its locks. Whether the wake-up knows who waits.
async fn parked_behind_its_back(wake: &[&str]) -> bool {
    let world = World::new(vec![per_account("p", 1.0)]).await;
    let mut world = world;
    world.stage_account("p", "a", 2, 1).await;
    assert_eq!(world.settle().await, 1);
    // Nobody waits at this moment, and the scope has not noticed yet.
    world.execute("UPDATE fairgate.scope SET in_flight = 1, waited = true, due_at = clock_timestamp()").await;
    world.execute("UPDATE fairgate.partition_state SET waiting_on = NULL").await;
    let mut gate = world.conn().await;
    sqlx::query("SELECT pg_advisory_lock(77)").execute(&mut *gate).await.expect("a lock");
    let pool = world.pool().clone();
    let statements: Vec<String> = wake.iter().map(|&sql| sql.to_owned()).collect();
    let waker = tokio::spawn(async move {
        let mut tx = pool.begin().await.expect("a transaction");
        for sql in statements {
            sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut *tx).await.expect("a statement");
        }
        tx.commit().await.expect("a commit");
    });
    let blocked = "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = 77 AND NOT l.granted";
    while world.number(blocked).await == 0 {
        tokio::task::yield_now().await;
    }
    // As a tick does: under the scope's lock, with the time from the level after charging.
    world
        .execute(
            "BEGIN;
             SELECT FROM fairgate.scope FOR NO KEY UPDATE;
             UPDATE fairgate.partition_state SET waiting_on = (SELECT id FROM fairgate.scope), waiting_since = clock_timestamp(), due_at = NULL WHERE pending > 0;
             UPDATE fairgate.scope SET waited = true, due_at = clock_timestamp();
             COMMIT",
        )
        .await;
    sqlx::query("SELECT pg_advisory_unlock(77)").execute(&mut *gate).await.expect("unlocked");
    waker.await.expect("a wake-up");
    world.number("SELECT count(*) FROM fairgate.scope WHERE waited").await == 1
}

const LOCK: &str = "SELECT s.id FROM fairgate.scope s CROSS JOIN (SELECT pg_advisory_lock_shared(77)) pause FOR NO KEY UPDATE OF s SKIP LOCKED";
const LOOK: &str = "UPDATE fairgate.scope s SET waited = n.waits, due_at = CASE WHEN n.waits THEN s.due_at END
    FROM (SELECT c.id, EXISTS (SELECT FROM fairgate.partition_state p WHERE p.waiting_on = c.id) AS waits FROM fairgate.scope c) n WHERE s.id = n.id";

#[tokio::test]
async fn a_wake_up_that_locks_and_looks_in_one_statement_forgets_who_parked_in_between() {
    let both = format!(
        "WITH locked AS MATERIALIZED ({LOCK}) {} AND s.id IN (SELECT id FROM locked)",
        LOOK.replace("FROM fairgate.scope c)", "FROM locked c)")
    );
    assert!(!parked_behind_its_back(&[&both]).await);
}

#[tokio::test]
async fn a_wake_up_that_looks_in_a_second_statement_sees_who_parked_in_between() {
    assert!(parked_behind_its_back(&[LOCK, LOOK]).await);
}
