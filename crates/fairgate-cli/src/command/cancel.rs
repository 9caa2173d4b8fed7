//! `fairgate cancel`.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::args::CancelArgs;
use crate::error::CliError;
use crate::{database, output};

pub(crate) async fn run(args: &CancelArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect(&args.database).await?;
    let mut outcomes = Vec::with_capacity(args.jobs.len());
    for &job in &args.jobs {
        outcomes.push((job, fairgate::cancel(&mut connection, job).await?));
    }
    if args.output.json {
        let jobs: Vec<Value> = (outcomes.iter())
            .map(|(job, cancelled)| json!({ "job_id": job, "cancelled": cancelled }))
            .collect();
        output::print_json(&json!({ "jobs": jobs }))?;
    } else {
        let word = |cancelled| if cancelled { "cancelled" } else { "not waiting" };
        let lines = outcomes.iter().map(|(job, cancelled)| format!("{job} {}\n", word(*cancelled)));
        output::print(&lines.collect::<String>())?;
    }
    let all = outcomes.iter().all(|(_, cancelled)| *cancelled);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
