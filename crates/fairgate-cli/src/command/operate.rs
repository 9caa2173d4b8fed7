//! `fairgate pause`, `resume`, `enable` and `disable`.

use std::process::ExitCode;

use fairgate::operate;

use crate::args::{EnableArgs, PauseArgs};
use crate::error::CliError;
use crate::{database, output};

pub(crate) async fn pause(args: &PauseArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let changed = match &args.partition {
        Some(partition) => operate::pause_partition(&mut connection, &args.policy, partition).await?,
        None => operate::pause(&mut connection, &args.policy).await?,
    };
    report(&format!("{} is paused", what(args)), changed)
}

pub(crate) async fn resume(args: &PauseArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let changed = match &args.partition {
        Some(partition) => operate::resume_partition(&mut connection, &args.policy, partition).await?,
        None => operate::resume(&mut connection, &args.policy).await?,
    };
    report(&format!("{} is not paused", what(args)), changed)
}

pub(crate) async fn switch(args: &EnableArgs, enabled: bool) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let word = if enabled { "enabled" } else { "disabled" };
    match &args.policy {
        Some(policy) => {
            let changed = operate::set_policy_enabled(&mut connection, policy, enabled).await?;
            report(&format!("policy \"{policy}\" is {word}"), changed)
        }
        None => {
            let changed = operate::set_enabled(&mut connection, enabled).await?;
            report(&format!("fairgate is {word}"), changed)
        }
    }
}

fn what(args: &PauseArgs) -> String {
    match &args.partition {
        Some(partition) => format!("partition {:?} of policy \"{}\"", partition.as_str(), args.policy),
        None => format!("policy \"{}\"", args.policy),
    }
}

/// Says how things are now. Nothing to change is fine: things are as they were asked to be.
fn report(state: &str, changed: bool) -> Result<ExitCode, CliError> {
    output::say(&format!("{state}{}", if changed { "" } else { " already" }));
    Ok(ExitCode::SUCCESS)
}
