//! `fairgate doctor`.

use std::process::ExitCode;

use fairgate::doctor::{self, Finding, Severity};
use serde_json::json;

use crate::args::DoctorArgs;
use crate::error::CliError;
use crate::{database, output};

pub(crate) async fn run(args: &DoctorArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect(&args.database).await?;
    let findings = doctor::examine(&mut connection).await?;
    let healthy = findings.iter().all(|finding| finding.severity != Severity::Problem);
    if args.output.json {
        output::print_json(&json!({ "healthy": healthy, "findings": findings }))?;
    } else {
        output::print(&text(&findings))?;
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.check.chars().count()).max().unwrap_or(0);
    findings.iter().map(|finding| lines(finding, width)).collect()
}

fn lines(finding: &Finding, width: usize) -> String {
    let word = match finding.severity {
        Severity::Ok => "ok",
        Severity::Warning => "warning",
        Severity::Problem => "problem",
    };
    let line = format!("{word:<7}  {:<width$}  {}\n", finding.check, finding.found);
    match &finding.advice {
        Some(advice) => format!("{line}{:<7}  {:<width$}  -> {advice}\n", "", ""),
        None => line,
    }
}
