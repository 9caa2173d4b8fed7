use sqlx::{AssertSqlSafe, PgConnection};

use super::{Disagreement, Finding, Severity};
use crate::error::{DatabaseError, Doing};
use crate::migrate;
use crate::registry::{self, RegisteredQueue};

type Checked<T> = Result<T, DatabaseError>;

pub(super) async fn server(conn: &mut PgConnection) -> Checked<Finding> {
    let (number, version): (i32, String) =
        crate::sql::query_as(include_str!("../../queries/registry/server_version.sql"))
            .fetch_one(conn)
            .await
            .doing("reading the server's version")?;
    Ok(if number < 140_000 {
        Finding::new(
            "server",
            Severity::Problem,
            format!("PostgreSQL {version}"),
            "fairgate needs PostgreSQL 14 or newer; upgrade the server",
        )
    } else {
        Finding::ok("server", format!("PostgreSQL {version}"))
    })
}

pub(super) async fn schema(conn: &mut PgConnection) -> Checked<Finding> {
    Ok(if migrate::is_migrated(conn).await? {
        Finding::ok("schema", "schema fairgate is up to date")
    } else {
        Finding::new(
            "schema",
            Severity::Problem,
            "schema fairgate is missing or older than this program",
            "run \"fairgate migrate\"",
        )
    })
}

pub(super) async fn audit(conn: &mut PgConnection) -> Checked<Vec<Disagreement>> {
    crate::sql::query_as(include_str!("../../queries/doctor/audit_counters.sql"))
        .fetch_all(conn)
        .await
        .doing("auditing the counters")
}

pub(super) async fn counters(conn: &mut PgConnection) -> Checked<Finding> {
    let wrong = audit(conn).await?;
    Ok(match wrong.first() {
        None => Finding::ok("counters", "every counter agrees with the rows it stands for"),
        Some(first) => Finding::new(
            "counters",
            Severity::Problem,
            format!(
                "{} counters disagree with their rows; first: {} of partition {} says {}, there are {} rows",
                wrong.len(),
                first.counter,
                first.partition_id,
                first.counted,
                first.rows
            ),
            "somebody changed fairgate's tables by hand, or this is a bug: keep the output of this command and report it",
        ),
    })
}

pub(super) async fn tickers(conn: &mut PgConnection) -> Checked<Finding> {
    let (live, waiting): (i64, bool) =
        crate::sql::query_as(include_str!("../../queries/doctor/live_tickers.sql"))
            .fetch_one(conn)
            .await
            .doing("looking for tickers")?;
    Ok(match (live, waiting) {
        (0, true) => Finding::new(
            "tickers",
            Severity::Problem,
            "jobs wait and no ticker runs",
            "start one: \"fairgate run\"",
        ),
        (0, false) => {
            Finding::new("tickers", Severity::Warning, "no ticker runs", "start one: \"fairgate run\"")
        }
        (n, _) => Finding::ok("tickers", format!("{n} seen in the last minute")),
    })
}

pub(super) async fn reports(conn: &mut PgConnection) -> Checked<Finding> {
    let waiting: i64 = crate::sql::query_scalar(include_str!("../../queries/doctor/waiting_reports.sql"))
        .fetch_one(conn)
        .await
        .doing("counting reports")?;
    Ok(if waiting > 100_000 {
        let advice =
            "the tickers do not keep up, or none runs; look at their logs and at the transactions below";
        Finding::new(
            "reports",
            Severity::Warning,
            format!("{waiting} reports of stages and finishes wait to be absorbed"),
            advice,
        )
    } else {
        Finding::ok("reports", format!("{waiting} reports wait to be absorbed"))
    })
}

pub(super) async fn old_transactions(conn: &mut PgConnection) -> Checked<Vec<Finding>> {
    let rows: Vec<(i32, String, f64, String)> =
        crate::sql::query_as(include_str!("../../queries/doctor/old_transactions.sql"))
            .fetch_all(conn)
            .await
            .doing("looking for old transactions")?;
    let say = |(pid, who, seconds, query): (i32, String, f64, String)| {
        let advice = "old transactions keep deleted rows alive and make every tick slower; end it, or run long reports on a replica";
        let found = format!("process {pid} ({who}) has held a snapshot for {seconds:.0} s: {query}");
        Finding::new("old transactions", Severity::Warning, found, advice)
    };
    Ok(match rows.len() {
        0 => vec![Finding::ok("old transactions", "none")],
        _ => rows.into_iter().map(say).collect(),
    })
}

pub(super) async fn queues(conn: &mut PgConnection) -> Checked<Vec<Finding>> {
    let mut findings = Vec::new();
    for queue in RegisteredQueue::list(conn).await? {
        let check = format!("queue {}", queue.name);
        let Ok(adapter) = queue.adapter(&[]) else {
            findings
                .push(Finding::ok(check, format!("of type {}, which a program brings with it", queue.kind)));
            continue;
        };
        let misfits: Vec<String> = crate::sql::query_scalar(AssertSqlSafe(adapter.shape()))
            .bind(&queue.schema_name)
            .fetch_all(&mut *conn)
            .await
            .doing("looking at the queue's tables")?;
        if misfits == ["missing"] {
            let advice = "let the queue install its tables in this database; a running ticker notices by itself, or run \"fairgate apply\"";
            let found =
                format!("schema \"{}\" with the queue's tables is not in this database", queue.schema_name);
            findings.push(Finding::new(check, Severity::Problem, found, advice));
            continue;
        }
        if !misfits.is_empty() {
            let advice = "the queue was changed under fairgate; use a version of it that fairgate knows";
            findings.push(Finding::new(check, Severity::Problem, misfits.join("; "), advice));
            continue;
        }
        if !queue.ready {
            let advice = "its tables fit now: a running ticker notices by itself, or run \"fairgate apply\"";
            let found = format!("not installed; last: {}", queue.not_ready_reason.unwrap_or_default());
            findings.push(Finding::new(check, Severity::Problem, found, advice));
            continue;
        }
        let missing = registry::missing_triggers(conn, adapter.as_ref()).await?;
        findings.push(if missing.is_empty() {
            Finding::ok(check.clone(), "its tables fit, its triggers stand and are enabled")
        } else if queue.hooked {
            let advice =
                "slots are freed only by the sweep, an hour late: run \"fairgate apply\" to install them";
            Finding::new(
                check.clone(),
                Severity::Problem,
                format!("triggers missing or disabled: {}", missing.join(", ")),
                advice,
            )
        } else {
            let advice =
                "then workers must call fairgate.finished, or run \"fairgate apply\" without --no-hooks";
            Finding::new(check.clone(), Severity::Warning, "no triggers are installed", advice)
        });
        for sql in adapter.ailments() {
            let found: Vec<(String, String)> = crate::sql::query_as(AssertSqlSafe(sql))
                .fetch_all(&mut *conn)
                .await
                .doing("looking at the queue's jobs")?;
            findings.extend(
                found
                    .into_iter()
                    .map(|(found, advice)| Finding::new(check.clone(), Severity::Problem, found, advice)),
            );
        }
    }
    Ok(findings)
}

pub(super) async fn quarantine(conn: &mut PgConnection) -> Checked<Option<Finding>> {
    let row: Option<(i64, String, String)> =
        crate::sql::query_as(include_str!("../../queries/doctor/quarantine.sql"))
            .fetch_optional(conn)
            .await
            .doing("looking at the quarantine")?;
    Ok(row.map(|(jobs, policy, error)| {
        let found =
            format!("{jobs} jobs were refused by their queue for good; last: policy \"{policy}\": {error}");
        Finding::new(
            "quarantine",
            Severity::Warning,
            found,
            "`fairgate quarantine list` shows them; mend the cause, then `fairgate quarantine restage` (or `drop`) them",
        )
    }))
}
