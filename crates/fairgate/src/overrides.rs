//! A limit of one partition, overridden for a while: who, when and why stand beside it, and it ends by itself.
//!
//! Its end is one of the instants at which the partition is due, so what waits is looked at then without anybody's doing.

mod made;

use std::time::Duration;

use fairgate_core::id::{PartitionKey, PolicyName};
use sqlx::postgres::types::PgInterval;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::error::{DatabaseError, Doing};
use crate::operate::{OperateError, notify, partition_id, policy_id};
use crate::sql::{query, query_as, query_scalar};

pub use made::{NewOverride, Override, OverrideError, Target};

/// Overrides a number of one partition. Waits for the tick that holds the partition; every later one goes by it, and what waits is looked at
/// at once. One of the same number that is in force is replaced.
///
/// Give it a connection that is in no transaction: a partition whose first job was staged a moment ago is looked for in the reports.
///
/// # Errors
/// See [`OverrideError`]. A partition appears with its first job; before that there is nothing to override, which is an error.
pub async fn make(
    conn: &mut PgConnection,
    policy: &PolicyName,
    partition: &PartitionKey,
    new: &NewOverride,
) -> Result<Override, OverrideError> {
    const DOING: &str = "overriding a limit";
    new.check()?;
    let policy_id = policy_id(conn, policy.as_str()).await?;
    let definition: String = query_scalar(include_str!("../queries/override/read_definition.sql"))
        .bind(policy_id)
        .fetch_one(&mut *conn)
        .await
        .doing("reading a policy")?;
    new.target.check(policy, &definition)?;
    let id = partition_id(conn, policy_id, policy, partition).await?;
    let mut tx = conn.begin().await.doing(DOING)?;
    if !arm(&mut tx, id).await? {
        // A sweep removed it a moment ago.
        let (policy, partition) = (policy.to_string(), partition.to_string());
        return Err(OperateError::UnknownPartition { policy, partition }.into());
    }
    let made = query_as(include_str!("../queries/override/make.sql"))
        .bind(id)
        .bind(policy_id)
        .bind(&new.target.gate)
        .bind(&new.target.parameter)
        .bind(new.value)
        .bind(interval(new.lasts))
        .bind(&new.who)
        .bind(new.reason.trim())
        .bind(partition.as_str())
        .fetch_one(&mut *tx)
        .await
        .doing(DOING)?;
    notify(&mut tx).await?;
    tx.commit().await.doing(DOING)?;
    Ok(made)
}

/// Ends one override of a partition, or all of them, before their time. Says how many were in force.
///
/// # Errors
/// When there is no such policy, or the database does not carry it out. Nothing to end is fine.
pub async fn clear(
    conn: &mut PgConnection,
    policy: &PolicyName,
    partition: &PartitionKey,
    target: Option<&Target>,
) -> Result<u64, OperateError> {
    const DOING: &str = "ending an override";
    let policy_id = policy_id(conn, policy.as_str()).await?;
    let id = id_of(conn, policy_id, partition).await?;
    let mut tx = conn.begin().await.doing(DOING)?;
    arm(&mut tx, id).await?;
    let ended = query(include_str!("../queries/override/end.sql"))
        .bind(id)
        .bind(target.map(|target| &target.gate))
        .bind(target.map(|target| &target.parameter))
        .execute(&mut *tx)
        .await
        .doing(DOING)?
        .rows_affected();
    notify(&mut tx).await?;
    tx.commit().await.doing(DOING)?;
    Ok(ended)
}

/// The overrides in force of a policy, or of one partition of it.
///
/// # Errors
/// When there is no such policy, or the database does not answer.
pub async fn list(
    conn: &mut PgConnection,
    policy: &PolicyName,
    partition: Option<&PartitionKey>,
) -> Result<Vec<Override>, OperateError> {
    let policy_id = policy_id(conn, policy.as_str()).await?;
    let id = match partition {
        Some(partition) => Some(id_of(conn, policy_id, partition).await?),
        None => None,
    };
    let list = query_as(include_str!("../queries/override/list.sql"))
        .bind(policy.as_str())
        .bind(id)
        .fetch_all(conn)
        .await
        .doing("listing overrides")?;
    Ok(list)
}

/// Takes the partition's lock. False: there is no such partition.
async fn arm(conn: &mut PgConnection, id: Uuid) -> Result<bool, DatabaseError> {
    let sql = include_str!("../queries/override/arm.sql");
    let done = query(sql).bind(id).execute(conn).await.doing("locking a partition")?;
    Ok(done.rows_affected() > 0)
}

/// The id that a partition of this key has, or would have.
async fn id_of(
    conn: &mut PgConnection,
    policy_id: i32,
    partition: &PartitionKey,
) -> Result<Uuid, DatabaseError> {
    query_scalar(include_str!("../queries/explain/partition_id.sql"))
        .bind(policy_id)
        .bind(partition.as_str())
        .fetch_one(conn)
        .await
        .doing("looking up a partition")
}

fn interval(duration: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX) }
}
