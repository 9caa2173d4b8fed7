use std::sync::Arc;

use sqlx::PgConnection;

use crate::error::{DatabaseError, Doing};
use crate::queue::{self, Queue, QueueError};

/// Adapters that a program brings with it, by the name of their queue.
pub(crate) type OwnQueues = [(String, Arc<dyn Queue>)];

/// A queue as it is registered.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct RegisteredQueue {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) schema_name: String,
    pub(crate) settings: serde_json::Value,
    pub(crate) ready: bool,
    pub(crate) not_ready_reason: Option<String>,
    pub(crate) hooked: bool,
}

impl RegisteredQueue {
    /// Every registered queue, by name.
    pub(crate) async fn list(conn: &mut PgConnection) -> Result<Vec<Self>, DatabaseError> {
        let sql = include_str!("../../queries/registry/list_queues.sql");
        crate::sql::query_as(sql).fetch_all(conn).await.doing("listing queues")
    }

    /// Its adapter: the program's own, else the one of its kind.
    pub(crate) fn adapter(&self, own: &OwnQueues) -> Result<Arc<dyn Queue>, QueueError> {
        adapter(&self.name, &self.kind, &self.schema_name, &self.settings, own)
    }
}

/// The same for what is known of a queue without its row.
pub(crate) fn adapter(
    name: &str,
    kind: &str,
    schema: &str,
    settings: &serde_json::Value,
    own: &OwnQueues,
) -> Result<Arc<dyn Queue>, QueueError> {
    match own.iter().find(|(own_name, queue)| own_name == name && queue.kind() == kind) {
        Some((_, queue)) => Ok(queue.clone()),
        None => queue::adapter(kind, Some(schema), settings).map(Arc::from),
    }
}
