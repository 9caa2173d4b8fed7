//! Takes fairgate out of a database: the triggers on the queues' tables, then the schema, in one transaction.

use std::sync::Arc;

use serde::Serialize;
use sqlx::{Connection, PgConnection};

use crate::error::{DatabaseError, Doing};
use crate::queue::Queue;
use crate::registry::{RegisteredQueue, uninstall_hooks};
use crate::sql::{query, query_as, query_scalar};

/// What becomes of the jobs that are still with us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jobs {
    /// Nothing is removed while jobs are staged, in flight or quarantined.
    Refuse,
    /// Staged jobs go straight to their queues, scheduled ones with their time. Nothing is removed while jobs are quarantined.
    Drain,
    /// Staged and quarantined jobs are deleted.
    Drop,
}

/// What fairgate holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub struct Holdings {
    /// Registered policies.
    pub policies: i64,
    /// Jobs in staging, scheduled ones included.
    pub staged: i64,
    /// Jobs in flight. They are in their queues, and run on there.
    pub in_flight: i64,
    /// Jobs that a queue refused for good.
    pub quarantined: i64,
    /// Tickers that were seen in the last minute. They find no schema afterwards: stop them.
    pub tickers: i64,
}

/// Why nothing was removed.
#[derive(Debug, thiserror::Error)]
pub enum UninstallError {
    /// There are jobs that nothing was said about.
    #[error("{} staged, {} in flight, {} quarantined: these jobs are still with fairgate", .0.staged, .0.in_flight, .0.quarantined)]
    Jobs(Holdings),
    /// Jobs cannot be drained into a queue that takes none.
    #[error(
        "the staged jobs of policy \"{policy}\" cannot go to queue \"{queue}\", which is not ready: {reason}"
    )]
    QueueNotReady {
        /// The policy.
        policy: String,
        /// The queue.
        queue: String,
        /// Why.
        reason: String,
    },
    /// The database did not carry it out.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// Whether there is anything to remove.
///
/// # Errors
/// When the database does not answer.
pub async fn is_installed(conn: &mut PgConnection) -> Result<bool, DatabaseError> {
    query_scalar(include_str!("../queries/registry/schema_exists.sql"))
        .fetch_one(conn)
        .await
        .doing("looking for schema fairgate")
}

/// What fairgate holds at this moment.
///
/// # Errors
/// When the database does not answer.
pub async fn holdings(conn: &mut PgConnection) -> Result<Holdings, DatabaseError> {
    query_as(include_str!("../queries/uninstall/count_left.sql"))
        .fetch_one(conn)
        .await
        .doing("counting what is left")
}

const DOING: &str = "removing fairgate";

/// Removes the triggers and the schema, all or nothing, and returns what was held until then. Waits for ticks, stagers and workers that are
/// at it, 15 s at most each. `queues`: adapters that cannot be built from what is registered, by queue name.
///
/// # Errors
/// See [`UninstallError`].
pub async fn uninstall(
    conn: &mut PgConnection,
    queues: &[(String, Arc<dyn Queue>)],
    jobs: Jobs,
) -> Result<Holdings, UninstallError> {
    let begin = include_str!("../queries/uninstall/begin.sql");
    let mut tx = conn.begin_with(begin).await.doing(DOING)?;
    match remove(&mut tx, queues, jobs).await {
        Ok(held) => {
            tx.commit().await.doing(DOING)?;
            Ok(held)
        }
        Err(error) => {
            // At once, not at the connection's next use: everybody waits for these locks.
            tx.rollback().await.doing(DOING)?;
            Err(error)
        }
    }
}

async fn remove(
    tx: &mut PgConnection,
    queues: &[(String, Arc<dyn Queue>)],
    jobs: Jobs,
) -> Result<Holdings, UninstallError> {
    query(include_str!("../queries/registry/lock_registry.sql")).execute(&mut *tx).await.doing(DOING)?;
    let policies: Vec<i32> = query_scalar(include_str!("../queries/operate/policy_ids.sql"))
        .fetch_all(&mut *tx)
        .await
        .doing(DOING)?;
    for id in policies {
        query(include_str!("../queries/registry/lock_policy.sql"))
            .bind(id)
            .execute(&mut *tx)
            .await
            .doing("waiting for the ticks that have begun")?;
    }
    for queue in RegisteredQueue::list(tx).await? {
        // Triggers of a queue that this program does not know go with the functions that they call.
        if let Ok(adapter) = queue.adapter(queues) {
            uninstall_hooks(tx, adapter.as_ref()).await?;
        }
    }
    query(include_str!("../queries/uninstall/lock_tables.sql")).execute(&mut *tx).await.doing(DOING)?;
    let held = holdings(tx).await?;
    let in_the_way = match jobs {
        Jobs::Refuse => held.staged + held.in_flight + held.quarantined > 0,
        Jobs::Drain => held.quarantined > 0,
        Jobs::Drop => false,
    };
    if in_the_way {
        return Err(UninstallError::Jobs(held));
    }
    if jobs == Jobs::Drain {
        send_staged(tx).await?;
    }
    query(include_str!("../queries/uninstall/drop_schema.sql")).execute(&mut *tx).await.doing(DOING)?;
    Ok(held)
}

async fn send_staged(conn: &mut PgConnection) -> Result<(), UninstallError> {
    let policies: Vec<(i32, String, String, Option<String>)> =
        query_as(include_str!("../queries/uninstall/list_staging_policies.sql"))
            .fetch_all(&mut *conn)
            .await
            .doing("listing policies with staged jobs")?;
    for (id, policy, queue, problem) in policies {
        if let Some(reason) = problem {
            return Err(UninstallError::QueueNotReady { policy, queue, reason });
        }
        let mut more = true;
        while more {
            let sent: Option<(i64, Option<String>)> =
                query_as(include_str!("../queries/uninstall/send_staged.sql"))
                    .bind(id)
                    .bind(&policy)
                    .fetch_optional(&mut *conn)
                    .await
                    .doing("sending staged jobs to their queue")?;
            more = sent.is_some();
        }
    }
    Ok(())
}
