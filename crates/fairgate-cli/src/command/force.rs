//! `fairgate admit` and `drain`.

use std::process::ExitCode;

use fairgate::force::{self, Forced, Means};

use crate::args::{AdmitArgs, DrainArgs};
use crate::error::CliError;
use crate::{database, output};

pub(crate) async fn admit(args: &AdmitArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let means = Means::default();
    let forced = force::admit(&mut connection, &means, &args.policy, &args.partition, args.count).await?;
    report(&forced, args.output.json)
}

pub(crate) async fn drain(args: &DrainArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let means = Means::default();
    let forced = force::drain(&mut connection, &means, &args.policy, args.partition.as_ref()).await?;
    report(&forced, args.output.json)
}

/// Exits with 1 if the queue refused something.
fn report(forced: &Forced, json: bool) -> Result<ExitCode, CliError> {
    if json {
        output::print_json(forced)?;
    } else {
        output::print(&text(forced))?;
    }
    Ok(if forced.refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(forced: &Forced) -> String {
    let mut text = format!("{} admitted", jobs(forced.admitted));
    if forced.refused > 0 {
        text += &format!("; the queue refused {}, which are tried again", forced.refused);
    }
    if forced.waiting > 0 {
        text += &format!("; {} still waiting", forced.waiting);
    }
    if forced.scheduled > 0 {
        text += &format!("; {} scheduled for later", forced.scheduled);
    }
    text + "\n"
}

pub(super) fn jobs(count: u64) -> String {
    if count == 1 { "1 job".to_owned() } else { format!("{count} jobs") }
}
