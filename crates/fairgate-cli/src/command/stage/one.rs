use std::process::ExitCode;

use chrono::{DateTime, Utc};
use fairgate::NewJob;
use serde_json::json;
use serde_json::value::RawValue;
use sqlx::PgConnection;

use super::input;
use crate::args::{JobArgs, StageArgs};
use crate::error::CliError;
use crate::{database, output};

/// When a job is due.
#[derive(Debug, Clone, Copy)]
enum RunAt {
    Time(DateTime<Utc>),
    FromNow(std::time::Duration),
}

pub(super) async fn stage(args: &StageArgs, task: &str) -> Result<ExitCode, CliError> {
    let run_at = args.job.run_at.as_deref().map(run_at).transpose()?;
    let mut job = build(&args.job, task)?;
    let mut connection = database::connect(&args.database).await?;
    if let Some(run_at) = run_at {
        job = job.run_at(resolve(run_at, &mut connection).await?);
    }
    let staged = fairgate::stage(&mut connection, &args.policy, &job).await?;
    let outcome = staged.outcome.as_str();
    if args.output.json {
        output::print_json(&json!({ "job_id": staged.job_id, "policy": args.policy, "outcome": outcome }))?;
    } else {
        output::print(&format!("{} {outcome}\n", staged.job_id))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn build(args: &JobArgs, task: &str) -> Result<NewJob, CliError> {
    let mut job = NewJob::new(task);
    if let Some(payload) = &args.payload {
        job = job.payload_json(input::payload(payload)?).map_err(|error| {
            CliError::usage(format!("--payload: {error}"))
                .hint("give JSON, @FILE, or - for stdin; a text is written with its quotes: '\"text\"'")
        })?;
    }
    if let Some(context) = &args.context {
        job = with_context(job, context)?;
    }
    if let Some(key) = &args.partition_key {
        job = job.partition_key(key.clone());
    }
    if let Some(priority) = args.priority {
        job = job.priority(priority);
    }
    if let Some(key) = &args.dedupe_key {
        job = job.dedupe_key(key);
    }
    if let Some(name) = &args.queue_name {
        job = job.queue_name(name);
    }
    Ok(match args.max_attempts {
        Some(attempts) => job.max_attempts(attempts),
        None => job,
    })
}

fn with_context(job: NewJob, context: &str) -> Result<NewJob, CliError> {
    let raw: &RawValue = serde_json::from_str(context).map_err(|error| {
        CliError::usage(format!("--context: it is not JSON: {error}"))
            .hint("give a JSON object, such as '{\"account_id\": 7}'")
    })?;
    job.context(&raw).map_err(|error| CliError::usage(format!("--context: {error}")))
}

fn run_at(text: &str) -> Result<RunAt, CliError> {
    let refuse = |problem: String| {
        CliError::usage(format!("--run-at: {problem}"))
            .hint("write 2030-01-31T12:00:00Z, or +10m for ten minutes from now")
    };
    match text.strip_prefix('+') {
        Some(wait) => fairgate_core::duration::parse_duration(wait)
            .map(RunAt::FromNow)
            .map_err(|error| refuse(error.to_string())),
        None => DateTime::parse_from_rfc3339(text)
            .map(|time| RunAt::Time(time.to_utc()))
            .map_err(|_| refuse(format!("{text:?} is not a time"))),
    }
}

/// From now means the database's now: hosts' clocks are never compared with it.
async fn resolve(run_at: RunAt, connection: &mut PgConnection) -> Result<DateTime<Utc>, CliError> {
    match run_at {
        RunAt::Time(time) => Ok(time),
        RunAt::FromNow(wait) => {
            let now = database::now(connection).await?;
            chrono::TimeDelta::from_std(wait)
                .ok()
                .and_then(|wait| now.checked_add_signed(wait))
                .ok_or_else(|| CliError::usage("--run-at: that is too far away"))
        }
    }
}
