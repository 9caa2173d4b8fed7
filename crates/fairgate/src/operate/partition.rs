use fairgate_core::id::{PartitionKey, PolicyName};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{OperateError, notify, policy_id};
use crate::absorb::absorb_all;
use crate::error::Doing;
use crate::sql::query;

/// Stops admission of one partition; staging goes on, and scheduled jobs are held, too. Waits for the tick that holds the partition. A pause
/// lasts until [`resume_partition`]: it survives restarts and new definitions, and a paused partition is never removed.
/// False: it was paused already.
///
/// Give it a connection that is in no transaction: a partition whose first job was staged a moment ago is looked for in the reports.
///
/// # Errors
/// See [`OperateError`]. A partition appears with its first job; before that there is nothing to pause, which is an error.
pub async fn pause_partition(
    conn: &mut PgConnection,
    policy: &PolicyName,
    partition: &PartitionKey,
) -> Result<bool, OperateError> {
    set(conn, policy, partition, include_str!("../../queries/operate/pause_partition.sql")).await
}

/// Lets a paused partition go on. False: it was not paused. A pause of the whole policy is another thing and stays.
///
/// # Errors
/// See [`OperateError`].
pub async fn resume_partition(
    conn: &mut PgConnection,
    policy: &PolicyName,
    partition: &PartitionKey,
) -> Result<bool, OperateError> {
    let changed =
        set(conn, policy, partition, include_str!("../../queries/operate/resume_partition.sql")).await?;
    notify(conn).await?;
    Ok(changed)
}

async fn set(
    conn: &mut PgConnection,
    policy: &PolicyName,
    partition: &PartitionKey,
    sql: &'static str,
) -> Result<bool, OperateError> {
    let policy_id = policy_id(conn, policy.as_str()).await?;
    let id = partition_id(conn, policy_id, policy, partition).await?;
    let done = query(sql).bind(id).execute(conn).await.doing("switching a partition")?;
    Ok(done.rows_affected() > 0)
}

/// The partition of that key. One that is known from reports alone is written first.
pub(crate) async fn partition_id(
    conn: &mut PgConnection,
    policy_id: i32,
    policy: &PolicyName,
    partition: &PartitionKey,
) -> Result<Uuid, OperateError> {
    if let Some(id) = find(conn, policy_id, partition).await? {
        return Ok(id);
    }
    absorb_all(conn).await?;
    find(conn, policy_id, partition).await?.ok_or_else(|| OperateError::UnknownPartition {
        policy: policy.to_string(),
        partition: partition.to_string(),
    })
}

async fn find(
    conn: &mut PgConnection,
    policy_id: i32,
    partition: &PartitionKey,
) -> Result<Option<Uuid>, OperateError> {
    let sql = include_str!("../../queries/operate/find_partition.sql");
    let found = crate::sql::query_scalar(sql)
        .bind(policy_id)
        .bind(partition.as_str())
        .fetch_optional(conn)
        .await
        .doing("looking up a partition")?;
    Ok(found)
}
