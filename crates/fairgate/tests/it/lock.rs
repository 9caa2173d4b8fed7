//! Session locks and their order.

use std::time::Duration;

use fairgate::lock::{LockError, Locks};
use fairgate_testkit::TestDb;

const NOT_AT_ALL: Duration = Duration::ZERO;

#[tokio::test]
async fn a_source_has_one_holder_until_it_is_released() {
    let db = TestDb::bare().await;
    let (mut one, mut two) = (Locks::new(db.connect().await), Locks::new(db.connect().await));
    assert!(one.lock_source("events", NOT_AT_ALL).await.unwrap());
    assert!(!two.lock_source("events", Duration::from_millis(30)).await.unwrap());
    assert!(two.lock_source("other", NOT_AT_ALL).await.unwrap());
    assert!(two.unlock_source().await.unwrap());
    assert!(one.unlock_source().await.unwrap());
    assert!(two.lock_source("events", NOT_AT_ALL).await.unwrap());
}

#[tokio::test]
async fn the_gate_lets_one_through_and_a_waiter_after_it() {
    let db = TestDb::bare().await;
    let (mut one, mut two) = (Locks::new(db.connect().await), Locks::new(db.connect().await));
    assert!(one.enter_gate("github", NOT_AT_ALL).await.unwrap());
    assert!(!two.enter_gate("github", Duration::from_millis(30)).await.unwrap());
    let waiting =
        tokio::spawn(async move { two.enter_gate("github", Duration::from_secs(60)).await.unwrap() });
    assert!(one.leave_gate().await.unwrap());
    assert!(waiting.await.unwrap());
}

#[tokio::test]
async fn a_source_is_not_locked_behind_the_gate() {
    let db = TestDb::bare().await;
    let mut locks = Locks::new(db.connect().await);
    assert!(locks.enter_gate("github", NOT_AT_ALL).await.unwrap());
    let error = locks.lock_source("events", NOT_AT_ALL).await.unwrap_err();
    assert!(matches!(error, LockError::Order { .. }), "{error}");
    assert!(locks.enter_gate("github", NOT_AT_ALL).await.is_err());
    locks.leave_gate().await.unwrap();
    assert!(locks.lock_source("events", NOT_AT_ALL).await.unwrap());
    assert!(locks.enter_gate("github", NOT_AT_ALL).await.unwrap());
    assert!(matches!(locks.unlock_source().await, Err(LockError::Order { .. })));
}

#[tokio::test]
async fn killing_the_session_frees_its_locks() {
    let db = TestDb::bare().await;
    let mut conn = db.connect().await;
    let pid: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut conn).await.unwrap();
    let (mut one, mut two) = (Locks::new(conn), Locks::new(db.connect().await));
    assert!(one.lock_source("events", NOT_AT_ALL).await.unwrap());
    assert!(one.enter_gate("github", NOT_AT_ALL).await.unwrap());
    sqlx::query("SELECT pg_terminate_backend($1)").bind(pid).execute(db.pool()).await.unwrap();
    assert!(two.lock_source("events", Duration::from_secs(60)).await.unwrap());
    assert!(two.enter_gate("github", Duration::from_secs(60)).await.unwrap());
    assert!(one.leave_gate().await.is_err(), "and who lost it finds out");
}
