//! The record of a poll: a row if and only if GitHub was contacted.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use super::page::Counts;
use crate::error::{Doing, FeedError};

/// A run that may become a row.
#[derive(Debug)]
pub struct Journal {
    /// Its id, in every log line of it.
    pub id: Uuid,
    source: &'static str,
    forced: bool,
    contacted: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Pages came.
    Succeeded,
    /// Nothing new.
    NotModified,
    /// The server limits us.
    Limited,
    /// It may be better next time.
    Failed,
    /// It will not be better next time.
    Refused,
}

impl Outcome {
    /// Its code, which never changes.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::NotModified => "not_modified",
            Self::Limited => "limited",
            Self::Failed => "failed",
            Self::Refused => "refused",
        }
    }

    /// Whether the feed answered as it should.
    #[must_use]
    pub fn is_success(self) -> bool {
        matches!(self, Self::Succeeded | Self::NotModified)
    }
}

impl Journal {
    /// A run that has contacted nobody.
    #[must_use]
    pub fn new(source: &'static str, forced: bool) -> Self {
        Self { id: Uuid::new_v4(), source, forced, contacted: false }
    }

    /// Whether our own rhythm was set aside.
    #[must_use]
    pub fn is_forced(&self) -> bool {
        self.forced
    }

    /// Whether GitHub was contacted.
    #[must_use]
    pub fn contacted(&self) -> bool {
        self.contacted
    }

    /// Records the first contact: after its debit is committed, and before the request is sent.
    pub(crate) async fn contact(&mut self, conn: &mut PgConnection) -> Result<(), FeedError> {
        if self.contacted {
            return Ok(());
        }
        end_interrupted(conn, self.source).await?;
        sqlx::query(include_str!("../../queries/ingest/start_run.sql"))
            .bind(self.id)
            .bind(self.source)
            .bind(self.forced)
            .execute(conn)
            .await
            .doing("recording a run")?;
        self.contacted = true;
        Ok(())
    }

    /// Records the end. When that was.
    pub(crate) async fn finish(
        &self,
        conn: &mut PgConnection,
        outcome: Outcome,
        error: Option<&str>,
        counts: &Counts,
    ) -> Result<DateTime<Utc>, FeedError> {
        sqlx::query_scalar(include_str!("../../queries/ingest/finish_run.sql"))
            .bind(self.id)
            .bind(outcome.code())
            .bind(error)
            .bind(counts.pages)
            .bind(counts.seen)
            .bind(counts.created)
            .bind(counts.duplicates)
            .bind(counts.quarantined)
            .bind(counts.ignored)
            .bind(counts.failed)
            .bind(counts.reactivated)
            .fetch_one(conn)
            .await
            .doing("recording the end of a run")
    }
}

/// Ends the runs whose process did not live to do so. Only who holds the source's lock may: nobody else runs then.
async fn end_interrupted(conn: &mut PgConnection, source: &str) -> Result<(), FeedError> {
    let done = sqlx::query(include_str!("../../queries/ingest/end_interrupted_runs.sql"))
        .bind(source)
        .execute(conn)
        .await
        .doing("ending interrupted runs")?;
    if done.rows_affected() > 0 {
        tracing::warn!(runs = done.rows_affected(), "a run was interrupted; its debit stays");
    }
    Ok(())
}
