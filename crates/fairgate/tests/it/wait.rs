//! Waiting for what another session does, by looking until it is there. The deadline is far off and only ends a test that has failed.

use std::future::Future;
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, PgConnection, PgPool};

const PATIENCE: Duration = Duration::from_secs(20);

/// Looks until `there` says yes.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut there: impl FnMut() -> F) {
    let began = Instant::now();
    while !there().await {
        assert!(began.elapsed() < PATIENCE, "waited {PATIENCE:?} in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Looks until a query that returns one boolean says yes.
pub(crate) async fn until_sql(pool: &PgPool, sql: &str) {
    until(sql, || async {
        let answer: Result<bool, _> = sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(pool).await;
        answer.unwrap_or_else(|e| panic!("{sql}: {e}"))
    })
    .await;
}

/// Looks until the session waits for a lock that another one holds.
pub(crate) async fn until_it_waits(pool: &PgPool, pid: i32) {
    until_sql(pool, &format!("SELECT cardinality(pg_blocking_pids({pid})) > 0")).await;
}

/// Looks until some session of this database waits for a lock, and says which.
pub(crate) async fn until_somebody_waits(pool: &PgPool) -> i32 {
    let blocked = "pid FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0";
    until_sql(pool, &format!("SELECT EXISTS (SELECT {blocked})")).await;
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT {blocked} LIMIT 1")))
        .fetch_one(pool)
        .await
        .expect("a pid")
}

pub(crate) async fn pid(conn: &mut PgConnection) -> i32 {
    sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(conn).await.expect("a pid")
}

/// From here on the session fails rather than wait for a lock for two seconds.
pub(crate) async fn impatient(conn: &mut PgConnection) {
    sqlx::raw_sql("SET lock_timeout = '2s'").execute(conn).await.expect("set");
}

/// Every insert into the queue waits while the given session holds advisory lock 7.
pub(crate) async fn gate_the_queue(pool: &PgPool) {
    let sql = "CREATE FUNCTION public.wait_for_seven() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END $$;
               CREATE TRIGGER wait_for_seven BEFORE INSERT ON graphile_worker._private_jobs
                 FOR EACH STATEMENT EXECUTE FUNCTION public.wait_for_seven()";
    sqlx::raw_sql(sql).execute(pool).await.expect("the trigger");
}

pub(crate) async fn close_the_gate(conn: &mut PgConnection) {
    sqlx::raw_sql("SELECT pg_advisory_lock(7)").execute(conn).await.expect("closed");
}

pub(crate) async fn open_the_gate(conn: &mut PgConnection) {
    sqlx::raw_sql("SELECT pg_advisory_unlock(7)").execute(conn).await.expect("opened");
}
