//! Workers of queues that show nothing by themselves report by admission id. Twice, late or unknown changes nothing.

use fairgate_core::id::AdmissionId;
use sqlx::PgConnection;

use crate::error::{DatabaseError, Doing};

/// How a job ended, for those who report it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It did what it should.
    Success,
    /// It failed for good.
    Failed,
    /// It says nothing about the load: removed, skipped.
    Ignored,
}

impl End {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed => "failed",
            Self::Ignored => "ignored",
        }
    }
}

/// The job begins. True: this was news.
///
/// # Errors
/// When the database does not answer.
pub async fn started(conn: &mut PgConnection, admission: AdmissionId) -> Result<bool, DatabaseError> {
    let sql = include_str!("../queries/track/started.sql");
    crate::sql::query_scalar(sql).bind(admission.as_uuid()).fetch_one(conn).await.doing("recording a start")
}

/// The job still runs. False: its slot is gone.
///
/// # Errors
/// When the database does not answer.
pub async fn heartbeat(conn: &mut PgConnection, admission: AdmissionId) -> Result<bool, DatabaseError> {
    let sql = include_str!("../queries/track/heartbeat.sql");
    crate::sql::query_scalar(sql)
        .bind(admission.as_uuid())
        .fetch_one(conn)
        .await
        .doing("recording a heartbeat")
}

/// The queue is done with the job: its slot is free. True: this call freed it.
///
/// # Errors
/// When the database does not answer.
pub async fn finished(
    conn: &mut PgConnection,
    admission: AdmissionId,
    end: End,
) -> Result<bool, DatabaseError> {
    let sql = include_str!("../queries/track/finished.sql");
    crate::sql::query_scalar(sql)
        .bind(admission.as_uuid())
        .bind(end.as_str())
        .fetch_one(conn)
        .await
        .doing("recording an end")
}
