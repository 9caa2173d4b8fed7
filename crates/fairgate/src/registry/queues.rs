use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::QueueSpec;
use super::registered::{OwnQueues, RegisteredQueue};
use crate::error::{DatabaseError, Doing};
use crate::queue::Queue;

/// Whether jobs can be handed to a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueState {
    /// They can, and its triggers are in place unless none were wanted.
    Ready,
    /// Its schema is not in this database (yet).
    Missing {
        /// The schema.
        schema: String,
    },
    /// Its tables are of another shape than this version knows.
    Misfit {
        /// What differs.
        problems: Vec<String>,
    },
    /// The database refused to install something.
    Refused {
        /// The database's words.
        problem: String,
    },
}

impl QueueState {
    /// Why it is not ready, for people.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Ready => None,
            Self::Missing { schema } => Some(format!(
                "schema \"{schema}\" with the queue's tables is not in this database; let the queue install itself here"
            )),
            Self::Misfit { problems } => Some(format!(
                "its tables are not of a shape that this version knows: {}",
                problems.join("; ")
            )),
            Self::Refused { problem } => Some(format!("installing failed: {problem}")),
        }
    }
}

pub(super) async fn upsert(conn: &mut PgConnection, spec: &QueueSpec) -> Result<i32, DatabaseError> {
    let bounds = spec.queue.bounds();
    crate::sql::query_scalar(include_str!("../../queries/registry/upsert_queue.sql"))
        .bind(spec.name.as_str())
        .bind(spec.queue.kind())
        .bind(spec.queue.schema().as_str())
        .bind(spec.queue.settings().to_string())
        .bind(bounds.priority_min)
        .bind(bounds.priority_max)
        .bind(bounds.max_attempts_max)
        .bind(bounds.task_max_chars)
        .bind(spec.queue.shows().iter().map(|event| event.as_str()).collect::<Vec<_>>())
        .bind(spec.max_waiting.map(|jobs| i32::try_from(jobs).unwrap_or(i32::MAX)))
        .fetch_one(conn)
        .await
        .doing("registering a queue")
}

/// Checks the shape of the queue's tables, installs the function that sends while disabled, and the triggers.
pub(super) async fn install(
    conn: &mut PgConnection,
    id: i32,
    queue: &dyn Queue,
    hooks: bool,
) -> Result<QueueState, DatabaseError> {
    let schema = queue.schema().as_str();
    let problems: Vec<String> = crate::sql::query_scalar(AssertSqlSafe(queue.shape()))
        .bind(schema)
        .fetch_all(&mut *conn)
        .await
        .doing("looking at the queue's tables")?;
    let state = match problems.as_slice() {
        [] => match install_sql(conn, id, queue, hooks).await {
            Ok(()) => return Ok(QueueState::Ready),
            Err(error) if error.sqlstate().is_some() => QueueState::Refused { problem: error.message() },
            Err(error) => return Err(error),
        },
        [one] if one == "missing" => QueueState::Missing { schema: schema.to_owned() },
        _ => QueueState::Misfit { problems },
    };
    set_state(conn, id, state.problem().as_deref(), None).await?;
    Ok(state)
}

async fn install_sql(
    conn: &mut PgConnection,
    id: i32,
    queue: &dyn Queue,
    hooks: bool,
) -> Result<(), DatabaseError> {
    const DOING: &str = "installing a queue's functions and triggers";
    let hooks = queue.hooks().filter(|_| hooks);
    let digest = hooks.as_ref().map(|text| digest(text));
    let mut tx = conn.begin().await.doing(DOING)?;
    let send = include_str!("../../queries/registry/enqueue_function.sql")
        .replace("{queue_id}", &queue.queue_id())
        .replace("{id}", &id.to_string())
        .replace("{enqueue}", &queue.enqueue());
    sqlx::raw_sql(AssertSqlSafe(send)).execute(&mut *tx).await.doing(DOING)?;
    if let Some(probe) = queue.probe() {
        sqlx::raw_sql(AssertSqlSafe(probe)).execute(&mut *tx).await.doing(DOING)?;
    }
    if let Some(text) = hooks
        && !hooks_stand(&mut tx, id, queue, digest.as_deref()).await?
    {
        sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut *tx).await.doing(DOING)?;
    }
    let kept = match digest {
        Some(digest) => Some(digest),
        None => installed_digest(&mut tx, id).await?,
    };
    set_state(&mut tx, id, None, kept.as_deref()).await?;
    tx.commit().await.doing(DOING)
}

/// Whether these very triggers stand and fire; then no lock on a busy table is needed. Not known where the queue's tables are not known beforehand.
async fn hooks_stand(
    conn: &mut PgConnection,
    id: i32,
    queue: &dyn Queue,
    digest: Option<&str>,
) -> Result<bool, DatabaseError> {
    Ok(!queue.triggers().is_empty()
        && installed_digest(conn, id).await?.as_deref() == digest
        && missing_triggers(conn, queue).await?.is_empty())
}

async fn installed_digest(conn: &mut PgConnection, id: i32) -> Result<Option<String>, DatabaseError> {
    let sql = include_str!("../../queries/registry/hooks_digest.sql");
    crate::sql::query_scalar(sql).bind(id).fetch_one(conn).await.doing("looking at a queue's triggers")
}

/// The triggers that should stand on the queue's tables and do not, or are disabled.
pub(crate) async fn missing_triggers(
    conn: &mut PgConnection,
    queue: &dyn Queue,
) -> Result<Vec<String>, DatabaseError> {
    let (tables, names): (Vec<String>, Vec<String>) = queue.triggers().into_iter().unzip();
    crate::sql::query_scalar(include_str!("../../queries/registry/missing_triggers.sql"))
        .bind(queue.schema().as_str())
        .bind(tables)
        .bind(names)
        .fetch_all(conn)
        .await
        .doing("looking at a queue's triggers")
}

async fn set_state(
    conn: &mut PgConnection,
    id: i32,
    problem: Option<&str>,
    digest: Option<&str>,
) -> Result<(), DatabaseError> {
    crate::sql::query(include_str!("../../queries/registry/set_queue_state.sql"))
        .bind(id)
        .bind(problem)
        .bind(digest)
        .execute(conn)
        .await
        .doing("recording a queue's state")?;
    Ok(())
}

fn digest(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Looks again at every queue that is not ready, and installs those whose tables have appeared. Returns their names.
pub(crate) async fn install_missing(
    conn: &mut PgConnection,
    own: &OwnQueues,
    hooks: bool,
) -> Result<Vec<String>, DatabaseError> {
    let mut installed = Vec::new();
    for queue in RegisteredQueue::list(conn).await?.into_iter().filter(|queue| !queue.ready) {
        let Ok(adapter) = queue.adapter(own) else { continue };
        if install(conn, queue.id, adapter.as_ref(), hooks).await? == QueueState::Ready {
            installed.push(queue.name);
        }
    }
    Ok(installed)
}

/// Removes a queue's triggers. Jobs that it holds are freed by the sweep only from then on.
///
/// # Errors
/// When the database refuses.
pub async fn uninstall_hooks(conn: &mut PgConnection, queue: &dyn Queue) -> Result<(), DatabaseError> {
    if let Some(text) = queue.unhook() {
        sqlx::raw_sql(AssertSqlSafe(text)).execute(conn).await.doing("removing a queue's triggers")?;
    }
    Ok(())
}

/// Stops admission to a queue until a ticker finds that it fits again.
pub(crate) async fn set_not_ready(
    conn: &mut PgConnection,
    queue: &str,
    reason: &str,
) -> Result<(), DatabaseError> {
    let sql = include_str!("../../queries/registry/set_queue_not_ready.sql");
    crate::sql::query(sql).bind(queue).bind(reason).execute(conn).await.doing("recording a queue's state")?;
    Ok(())
}
