//! `fairgate pause`, `resume`, `enable` and `disable`.

use std::process::ExitCode;

use fairgate::operate;

use crate::args::{EnableArgs, PauseArgs};
use crate::error::CliError;
use crate::{database, output};

pub(crate) async fn pause(args: &PauseArgs) -> Result<ExitCode, CliError> {
    whole_policy(args, "pausing a single partition")?;
    let mut connection = database::connect_migrated(&args.database).await?;
    let changed = operate::pause(&mut connection, &args.policy).await?;
    report(&format!("policy \"{}\" is paused", args.policy), changed)
}

pub(crate) async fn resume(args: &PauseArgs) -> Result<ExitCode, CliError> {
    whole_policy(args, "resuming a single partition")?;
    let mut connection = database::connect_migrated(&args.database).await?;
    let changed = operate::resume(&mut connection, &args.policy).await?;
    report(&format!("policy \"{}\" is not paused", args.policy), changed)
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

fn whole_policy(args: &PauseArgs, what: &str) -> Result<(), CliError> {
    match args.partition {
        Some(_) => Err(CliError::not_yet(what, "leave the partition out to mean the whole policy")),
        None => Ok(()),
    }
}

/// Says how things are now. Nothing to change is fine: things are as they were asked to be.
fn report(state: &str, changed: bool) -> Result<ExitCode, CliError> {
    output::say(&format!("{state}{}", if changed { "" } else { " already" }));
    Ok(ExitCode::SUCCESS)
}
