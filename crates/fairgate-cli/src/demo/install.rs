//! Everything that the demo needs in the database, before the first job.

use std::sync::Arc;

use fairgate::queue::Queue;
use fairgate::registry::{self, Options, QueueSpec, Source};
use fairgate::{Policy, PolicyName, QueueName, operate};
use sqlx::PgConnection;

use super::database_error;
use super::players::Played;
use super::rules::{QUEUE, Route};
use super::workers;
use crate::error::CliError;

/// Refuses a database in which another demo runs. The connection holds the place until it is closed.
///
/// # Errors
/// When there is another, or the database does not answer.
pub(super) async fn lock(conn: &mut PgConnection) -> Result<(), CliError> {
    let had: bool = sqlx::query_scalar(include_str!("../../queries/demo/lock.sql"))
        .fetch_one(conn)
        .await
        .map_err(database_error("looking for another demo"))?;
    if had {
        return Ok(());
    }
    Err(CliError::failed("another demo runs in this database")
        .hint("wait for its end, or stop it with Ctrl-C; or name another database with --database-url"))
}

/// The demo's policies.
///
/// # Errors
/// Never: they are constants.
pub(super) fn policies() -> Result<Vec<Policy>, CliError> {
    Route::ALL
        .into_iter()
        .map(|route| route.rules().map_err(|problems| CliError::failed(problems.to_string())))
        .collect()
}

/// The demo's queue, whose tables the workers have installed.
///
/// # Errors
/// Never: its names are constants.
pub(super) fn queue(played: Option<Played>) -> Result<QueueSpec, CliError> {
    let name: QueueName =
        QUEUE.parse().map_err(|error| CliError::failed(format!("queue {QUEUE}: {error}")))?;
    let queue: Arc<dyn Queue> = match played {
        Some(played) => Arc::from(played.adapter()?),
        None => Arc::new(
            fairgate::queue::GraphileWorker::new(workers::SCHEMA)
                .map_err(|error| CliError::failed(format!("schema {}: {error}", workers::SCHEMA)))?,
        ),
    };
    Ok(QueueSpec { name, queue, max_waiting: None })
}

/// Registers the policies and the queue, switched on and running whatever an operator did to those of an earlier demo.
///
/// # Errors
/// When the queue's tables are not taken, fairgate is disabled as a whole, or the database refuses.
pub(super) async fn register(conn: &mut PgConnection, played: Option<Played>) -> Result<(), CliError> {
    let options = Options { source: Source::Code, revision: None, hooks: true, go_back: true };
    let applied = registry::apply(conn, &[queue(played)?], &policies()?, options).await?;
    if let Some(problem) = applied.queues.iter().find_map(|(_, state)| state.problem()) {
        return Err(CliError::failed(format!("the demo's queue is not ready: {problem}"))
            .hint("drop the queue's tables to let the demo make them afresh, or name another database"));
    }
    for name in names()? {
        operate::resume(conn, &name).await?;
        operate::set_policy_enabled(conn, &name, true).await?;
    }
    if !fairgate::observe::status(conn).await?.enabled {
        return Err(CliError::failed("fairgate is disabled in this database: nothing would be admitted")
            .hint("`fairgate enable` enables it; or name another database with --database-url"));
    }
    Ok(())
}

/// Takes away what a demo left undone: waiting jobs, queued ones, and the slots of either.
///
/// # Errors
/// When the database refuses.
pub(super) async fn clear(conn: &mut PgConnection, played: Option<Played>) -> Result<(), CliError> {
    const DOING: &str = "clearing what a demo left undone";
    let policies: Vec<&str> = Route::ALL.iter().map(|route| route.policy()).collect();
    let cancel = sqlx::query(include_str!("../../queries/demo/cancel_waiting.sql")).bind(&policies);
    cancel.execute(&mut *conn).await.map_err(database_error(DOING))?;
    match played {
        Some(played) => played.empty(conn).await?,
        None => {
            let empty = sqlx::query(include_str!("../../queries/demo/empty_queue.sql"));
            empty.execute(&mut *conn).await.map_err(database_error(DOING))?;
        }
    }
    let finish = sqlx::query(include_str!("../../queries/demo/finish_admissions.sql")).bind(&policies);
    finish.execute(&mut *conn).await.map_err(database_error(DOING))?;
    Ok(())
}

/// The names of the demo's policies.
///
/// # Errors
/// Never: they are constants.
pub(super) fn names() -> Result<Vec<PolicyName>, CliError> {
    Route::ALL
        .into_iter()
        .map(|route| {
            route.policy().parse().map_err(|error| CliError::failed(format!("{}: {error}", route.policy())))
        })
        .collect()
}
