//! One file per command: what it calls and what it prints.

mod apply;
mod cancel;
mod check;
mod doctor;
mod explain;
mod force;
mod init;
mod migrate;
mod operate;
mod overrides;
mod partitions;
mod policies;
mod quarantine;
mod run;
mod stage;
mod status;
mod uninstall;

use std::process::ExitCode;

use crate::args::Command;
use crate::error::CliError;

/// Runs a command to its exit code.
pub(crate) async fn run(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Init(args) => init::run(&args),
        Command::Migrate(args) => migrate::run(&args).await,
        Command::Check(args) => check::run(&args),
        Command::Apply(args) => apply::run(&args).await,
        Command::Run(args) => run::run(&args).await,
        Command::Demo(args) => crate::demo::run(&args).await,
        Command::Stage(args) => stage::run(&args).await,
        Command::Cancel(args) => cancel::run(&args).await,
        Command::Status(args) => status::run(&args).await,
        Command::Policies(args) => policies::run(&args).await,
        Command::Partitions(args) => partitions::run(&args).await,
        Command::Explain(args) => explain::run(&args).await,
        Command::Pause(args) => operate::pause(&args).await,
        Command::Resume(args) => operate::resume(&args).await,
        Command::Enable(args) => operate::switch(&args, true).await,
        Command::Disable(args) => operate::switch(&args, false).await,
        Command::Admit(args) => force::admit(&args).await,
        Command::Drain(args) => force::drain(&args).await,
        Command::Override(args) => overrides::run(&args).await,
        Command::Quarantine(args) => quarantine::run(&args).await,
        Command::Doctor(args) => doctor::run(&args).await,
        Command::Uninstall(args) => uninstall::run(&args).await,
    }
}
