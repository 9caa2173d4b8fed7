//! What operators do: pause, resume, enable, disable. Once `pause` or `disable` returns, no tick admits.

mod partition;

use fairgate_core::id::PolicyName;
use sqlx::{Connection, PgConnection};

use crate::error::{DatabaseError, Doing};

pub(crate) use partition::partition_id;
pub use partition::{pause_partition, resume_partition};

/// Why an operation was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    /// No policy of that name is registered.
    #[error("policy \"{name}\" is not registered{}", nearest(name, registered))]
    UnknownPolicy {
        /// The name that was given.
        name: String,
        /// Those that are.
        registered: Vec<String>,
    },
    /// The policy has no partition of that key (any more).
    #[error(
        "policy \"{policy}\" has no partition \"{partition}\"; one appears with its first job, and goes when it was empty for long"
    )]
    UnknownPartition {
        /// The policy.
        policy: String,
        /// The key that was given.
        partition: String,
    },
    /// The database did not carry it out.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

fn nearest(name: &str, registered: &[String]) -> String {
    let near =
        registered.iter().map(|r| (strsim::jaro_winkler(name, r), r)).max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((score, r)) if score > 0.8 => format!("; did you mean \"{r}\"?"),
        Some(_) => format!("; registered: {}", registered.join(", ")),
        None => "; none is".to_owned(),
    }
}

/// Stops admission of a policy, also of partitions that appear later. Staging goes on. Waits for the ticks that have begun.
/// False: it was paused already.
///
/// # Errors
/// See [`OperateError`].
pub async fn pause(conn: &mut PgConnection, policy: &PolicyName) -> Result<bool, OperateError> {
    set(conn, policy, include_str!("../queries/operate/set_policy_paused.sql"), true).await
}

/// Lets a paused policy go on. False: it was not paused.
///
/// # Errors
/// See [`OperateError`].
pub async fn resume(conn: &mut PgConnection, policy: &PolicyName) -> Result<bool, OperateError> {
    set(conn, policy, include_str!("../queries/operate/set_policy_paused.sql"), false).await
}

/// Enables or disables fairgate for one policy. Disabled: admission stops, what was staged stays, new jobs go straight to the queue.
/// False: nothing changed.
///
/// # Errors
/// See [`OperateError`].
pub async fn set_policy_enabled(
    conn: &mut PgConnection,
    policy: &PolicyName,
    enabled: bool,
) -> Result<bool, OperateError> {
    set(conn, policy, include_str!("../queries/operate/set_policy_enabled.sql"), enabled).await
}

/// Enables or disables fairgate for every policy; each policy's own switch stays as it is. False: nothing changed.
///
/// # Errors
/// When the database does not carry it out.
pub async fn set_enabled(conn: &mut PgConnection, enabled: bool) -> Result<bool, DatabaseError> {
    const DOING: &str = "switching fairgate";
    let sql = include_str!("../queries/operate/set_engine_enabled.sql");
    let changed =
        crate::sql::query(sql).bind(enabled).execute(&mut *conn).await.doing(DOING)?.rows_affected() > 0;
    let ids: Vec<i32> = crate::sql::query_scalar(include_str!("../queries/operate/policy_ids.sql"))
        .fetch_all(&mut *conn)
        .await
        .doing(DOING)?;
    for id in ids {
        // Alone in its statement: it waits for the ticks of that policy that began before the switch was written.
        crate::sql::query(include_str!("../queries/registry/lock_policy.sql"))
            .bind(id)
            .execute(&mut *conn)
            .await
            .doing(DOING)?;
    }
    notify(conn).await?;
    Ok(changed)
}

async fn set(
    conn: &mut PgConnection,
    policy: &PolicyName,
    sql: &'static str,
    value: bool,
) -> Result<bool, OperateError> {
    const DOING: &str = "switching a policy";
    let id = policy_id(conn, policy.as_str()).await?;
    let mut tx = conn.begin().await.doing(DOING)?;
    crate::sql::query(include_str!("../queries/registry/lock_policy.sql"))
        .bind(id)
        .execute(&mut *tx)
        .await
        .doing(DOING)?;
    let changed =
        crate::sql::query(sql).bind(id).bind(value).execute(&mut *tx).await.doing(DOING)?.rows_affected() > 0;
    notify(&mut tx).await?;
    tx.commit().await.doing(DOING)?;
    Ok(changed)
}

pub(crate) async fn notify(conn: &mut PgConnection) -> Result<(), DatabaseError> {
    crate::sql::query(include_str!("../queries/operate/notify.sql"))
        .execute(conn)
        .await
        .doing("waking the tickers")?;
    Ok(())
}

pub(crate) async fn policy_id(conn: &mut PgConnection, name: &str) -> Result<i32, OperateError> {
    let sql = include_str!("../queries/operate/find_policy_id.sql");
    let id: Option<i32> = crate::sql::query_scalar(sql)
        .bind(name)
        .fetch_optional(&mut *conn)
        .await
        .doing("looking up a policy")?;
    match id {
        Some(id) => Ok(id),
        None => {
            let sql = include_str!("../queries/operate/policy_names.sql");
            let registered = crate::sql::query_scalar(sql).fetch_all(conn).await.doing("listing policies")?;
            Err(OperateError::UnknownPolicy { name: name.to_owned(), registered })
        }
    }
}
