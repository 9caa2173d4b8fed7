//! `fairgate quarantine`.

use std::process::ExitCode;

use fairgate::JobId;
use fairgate::quarantine::{self, QuarantinedJob};
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::args::{DropArgs, ListArgs, QuarantineAction, QuarantineArgs, RestageArgs, WhichArgs};
use crate::error::CliError;
use crate::output::{Column, Table, ago};
use crate::{database, output};

pub(crate) async fn run(args: &QuarantineArgs) -> Result<ExitCode, CliError> {
    match &args.action {
        QuarantineAction::List(args) => list(args).await,
        QuarantineAction::Restage(args) => restage(args).await,
        QuarantineAction::Drop(args) => drop_jobs(args).await,
    }
}

async fn list(args: &ListArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let jobs = quarantine::list(&mut connection, args.policy.as_ref()).await?;
    if args.output.json {
        output::print_json(&json!({ "jobs": jobs }))?;
    } else if jobs.is_empty() {
        output::say("no job is quarantined");
    } else {
        let now = database::now(&mut connection).await?;
        let mut table = Table::new(&[
            Column::Text("JOB"),
            Column::Text("POLICY"),
            Column::Text("PARTITION"),
            Column::Text("TASK"),
            Column::Number("TRIES"),
            Column::Number("SINCE"),
            Column::Text("ERROR"),
        ]);
        for job in &jobs {
            table.row([
                job.job_id.to_string(),
                job.policy.clone(),
                job.partition_key.clone(),
                job.task.clone(),
                job.forward_attempts.to_string(),
                ago(now, job.quarantined_at),
                job.error.clone(),
            ]);
        }
        output::print(&table.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn restage(args: &RestageArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let wanted = wanted(&mut connection, &args.which).await?;
    let done = quarantine::restage(&mut connection, &wanted).await?;
    report(&wanted, &done, "restaged", args.output.json)
}

async fn drop_jobs(args: &DropArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let wanted = wanted(&mut connection, &args.which).await?;
    if let Some(policy) = args.which.all.as_ref().filter(|_| !args.yes && !wanted.is_empty()) {
        let count = super::force::jobs(wanted.len() as u64);
        return Err(CliError::usage(format!("this would delete {count} of policy \"{policy}\" for good"))
            .hint("nothing was deleted; add --yes"));
    }
    let done = quarantine::drop(&mut connection, &wanted).await?;
    report(&wanted, &done, "dropped", args.output.json)
}

async fn wanted(connection: &mut PgConnection, which: &WhichArgs) -> Result<Vec<JobId>, CliError> {
    match &which.all {
        Some(policy) => {
            let jobs: Vec<QuarantinedJob> = quarantine::list(connection, Some(policy)).await?;
            Ok(jobs.into_iter().map(|job| job.job_id).collect())
        }
        None => Ok(which.jobs.clone()),
    }
}

/// Exits with 1 if any of them was not there.
fn report(wanted: &[JobId], done: &[JobId], word: &str, json: bool) -> Result<ExitCode, CliError> {
    let happened = |job: &JobId| done.contains(job);
    if json {
        let jobs: Vec<Value> =
            wanted.iter().map(|job| json!({ "job_id": job, word: happened(job) })).collect();
        output::print_json(&json!({ "jobs": jobs }))?;
    } else if wanted.is_empty() {
        output::say("no job is quarantined");
    } else {
        let lines = wanted
            .iter()
            .map(|job| format!("{job} {}\n", if happened(job) { word } else { "not quarantined" }));
        output::print(&lines.collect::<String>())?;
    }
    Ok(if wanted.iter().all(happened) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
