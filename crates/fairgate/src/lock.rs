//! The one place that states the order of locks, and holds a session to it.
//!
//! **source -> request gate -> the budget's row.** A source's lock keeps two workers from one source, the gate lets one request at a time through
//! to the API, and the row is locked within a short transaction while neither is waited for. A session that holds the gate may not ask for a
//! source any more, so no two sessions can wait for each other.

use std::time::Duration;

use sqlx::PgConnection;

use crate::error::{DatabaseError, Doing};
use crate::sql::{query, query_scalar};

/// PostgreSQL's code for a lock that was not had in time.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Session locks on a connection of their own. Whatever kills the session frees them.
#[derive(Debug)]
pub struct Locks {
    conn: PgConnection,
    source: Option<String>,
    gate: Option<String>,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// It would be taken against the order.
    #[error(
        "{wanted} cannot be locked while {held} is held: locks go source, then gate; release {held} first"
    )]
    Order {
        /// The lock that was asked for.
        wanted: String,
        /// The lock that is held.
        held: String,
    },
    /// The database did not answer.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl Locks {
    /// Takes a direct connection that nobody else uses; a pooler in transaction mode would lose the locks.
    #[must_use]
    pub fn new(conn: PgConnection) -> Self {
        Self { conn, source: None, gate: None }
    }

    /// Locks a source, waiting no longer than `patience`. False: somebody else holds it.
    ///
    /// # Errors
    /// While this session holds a source or the gate, or when the database does not answer.
    pub async fn lock_source(&mut self, name: &str, patience: Duration) -> Result<bool, LockError> {
        let wanted = format!("source:{name}");
        if let Some(held) = self.gate.as_ref().or(self.source.as_ref()) {
            return Err(LockError::Order { wanted, held: held.clone() });
        }
        let had = lock(&mut self.conn, &wanted, patience).await?;
        self.source = had.then_some(wanted);
        Ok(had)
    }

    /// Releases the source. False: it was lost with its session.
    ///
    /// # Errors
    /// While the gate is held, or when the database does not answer.
    pub async fn unlock_source(&mut self) -> Result<bool, LockError> {
        if let (Some(held), Some(source)) = (&self.gate, &self.source) {
            return Err(LockError::Order { wanted: format!("release of {source}"), held: held.clone() });
        }
        match self.source.take() {
            Some(name) => Ok(unlock(&mut self.conn, &name).await?),
            None => Ok(false),
        }
    }

    /// Takes the gate to an API, waiting no longer than `patience`. False: somebody else's request is on its way.
    ///
    /// # Errors
    /// While this session holds it already, or when the database does not answer: then a source that was held is lost too.
    pub async fn enter_gate(&mut self, name: &str, patience: Duration) -> Result<bool, LockError> {
        let wanted = format!("gate:{name}");
        if let Some(held) = &self.gate {
            return Err(LockError::Order { wanted, held: held.clone() });
        }
        let had = lock(&mut self.conn, &wanted, patience).await?;
        self.gate = had.then_some(wanted);
        Ok(had)
    }

    /// Leaves the gate. False: it was not held, or lost with its session.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn leave_gate(&mut self) -> Result<bool, LockError> {
        match self.gate.take() {
            Some(name) => Ok(unlock(&mut self.conn, &name).await?),
            None => Ok(false),
        }
    }

    /// The source that is held.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }
}

async fn lock(conn: &mut PgConnection, name: &str, patience: Duration) -> Result<bool, DatabaseError> {
    const DOING: &str = "taking a session lock";
    let tried: bool = query_scalar(include_str!("../queries/lock/try_lock_session.sql"))
        .bind(name)
        .fetch_one(&mut *conn)
        .await
        .doing(DOING)?;
    let millis = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX).min(i32::MAX.unsigned_abs().into());
    if tried || millis == 0 {
        return Ok(tried);
    }
    let set = include_str!("../queries/lock/set_patience.sql");
    query(set).bind(millis.to_string()).execute(&mut *conn).await.doing(DOING)?;
    let waited =
        query(include_str!("../queries/lock/lock_session.sql")).bind(name).execute(conn).await.doing(DOING);
    match waited {
        Ok(_) => Ok(true),
        Err(error) if error.sqlstate().as_deref() == Some(LOCK_NOT_AVAILABLE) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn unlock(conn: &mut PgConnection, name: &str) -> Result<bool, DatabaseError> {
    let sql = include_str!("../queries/lock/unlock_session.sql");
    query_scalar(sql).bind(name).fetch_one(conn).await.doing("releasing a session lock")
}
