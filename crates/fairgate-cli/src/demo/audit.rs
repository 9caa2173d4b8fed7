//! The audit: what the demo's own record says about caps, rates and jobs. It is SQL and shares no code with the gates.
//!
//! Caps: triggers on `fairgate.in_flight` write what each partition holds, counted in the admitting transaction (`record_schema.sql`
//! says why the count is exact; an admission that did not see the one before is reported as well, so the audit does not rely on the
//! engine's locks). Rates: every stretch of time between two admissions, by the instants at which the gates were asked, which the
//! record pins between the begin of the transaction and the trigger. Jobs: each that was staged is admitted once and received, and its
//! slot comes back. The server's clock must not be set back while it runs.

#[cfg(test)]
mod tests;

use serde::Serialize;
use sqlx::PgConnection;

use super::database_error;
use crate::error::CliError;

/// Name, what it looks for, and the statement: how many it found, and the worst or first one in words.
const CHECKS: [(&str, &str, &str); 8] = [
    ("over_cap", "admissions beyond a tenant's cap", include_str!("../../queries/demo/audit/over_cap.sql")),
    (
        "over_rate",
        "admissions beyond a tenant's rate",
        include_str!("../../queries/demo/audit/over_rate.sql"),
    ),
    (
        "misdated",
        "admissions with a time outside their transaction",
        include_str!("../../queries/demo/audit/misdated.sql"),
    ),
    (
        "admitted_again",
        "second admissions of a job",
        include_str!("../../queries/demo/audit/admitted_again.sql"),
    ),
    (
        "strangers",
        "admissions of jobs that the tenant had not staged",
        include_str!("../../queries/demo/audit/strangers.sql"),
    ),
    ("ungated", "jobs received without an admission", include_str!("../../queries/demo/audit/ungated.sql")),
    ("lost", "jobs that are nowhere", include_str!("../../queries/demo/audit/lost.sql")),
    ("kept_slots", "slots that did not come back", include_str!("../../queries/demo/audit/kept_slots.sql")),
];

/// What the audit found.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Audit {
    pub(super) findings: Vec<Finding>,
}

/// One check.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) looks_for: &'static str,
    pub(super) violations: i64,
    /// The worst, or the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) example: Option<String>,
}

impl Audit {
    /// All of them together.
    pub(super) fn violations(&self) -> i64 {
        self.findings.iter().map(|finding| finding.violations).sum()
    }
}

/// Looks through the record of schema `fairgate_demo`.
///
/// # Errors
/// When the database does not answer.
pub(super) async fn audit(conn: &mut PgConnection) -> Result<Audit, CliError> {
    const DOING: &str = "auditing the demo's record";
    let analyze = include_str!("../../queries/demo/analyze.sql");
    sqlx::query(analyze).execute(&mut *conn).await.map_err(database_error(DOING))?;
    let mut findings = Vec::with_capacity(CHECKS.len());
    for (check, looks_for, sql) in CHECKS {
        let (violations, example): (i64, Option<String>) =
            sqlx::query_as(sql).fetch_one(&mut *conn).await.map_err(database_error(DOING))?;
        findings.push(Finding { check, looks_for, violations, example });
    }
    Ok(Audit { findings })
}
