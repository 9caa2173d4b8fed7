//! The doctor: each check looks at one thing that can be wrong and says what to do about it.

mod checks;

use serde::Serialize;
use sqlx::PgConnection;

use crate::error::DatabaseError;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Works, but look at it.
    Warning,
    /// Broken: jobs wait, or a promise is not kept.
    Problem,
}

/// What one check found.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// What was looked at, as in "counters".
    pub check: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    fn ok(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self { check: check.into(), severity: Severity::Ok, found: found.into(), advice: None }
    }

    fn new(
        check: impl Into<String>,
        severity: Severity,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { check: check.into(), severity, found: found.into(), advice: Some(advice.into()) }
    }
}

/// Runs every check. A schema that is not there, or older than this program, ends the visit after that finding.
///
/// # Errors
/// When the database does not answer.
pub async fn examine(conn: &mut PgConnection) -> Result<Vec<Finding>, DatabaseError> {
    let mut findings = vec![checks::server(conn).await?];
    let schema = checks::schema(conn).await?;
    let usable = schema.severity == Severity::Ok;
    findings.push(schema);
    if !usable {
        return Ok(findings);
    }
    findings.push(checks::counters(conn).await?);
    findings.push(checks::tickers(conn).await?);
    findings.push(checks::reports(conn).await?);
    findings.extend(checks::old_transactions(conn).await?);
    findings.extend(checks::queues(conn).await?);
    findings.extend(checks::quarantine(conn).await?);
    Ok(findings)
}

/// A partition or a scope whose counters do not agree with the rows that they count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, sqlx::FromRow)]
pub struct Disagreement {
    /// The partition's row, or the scope's.
    pub partition_id: uuid::Uuid,
    /// `pending`, `future` or `in_flight` of a partition; `scope_in_flight` or `scope_waiting` (those who wait, though it says that nobody does) of a scope.
    pub counter: String,
    /// The counter with the reports that wait to be absorbed.
    pub counted: i64,
    /// The rows.
    pub rows: i64,
}

/// Compares, in one snapshot, every partition's and every scope's counters with the rows they stand for. Empty: all agree, always.
///
/// # Errors
/// When the database does not answer.
pub async fn audit(conn: &mut PgConnection) -> Result<Vec<Disagreement>, DatabaseError> {
    checks::audit(conn).await
}
