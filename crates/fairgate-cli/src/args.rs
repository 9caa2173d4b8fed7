//! What the command line takes. One file per group of commands; every command says in its help what it prints and how it exits.

mod admin;
mod demo;
mod explain;
mod force;
mod operate;
mod overrides;
mod quarantine;
mod read;
mod run;
mod set_up;
mod stage;
mod uninstall;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

pub(crate) use admin::AdminArgs;
pub(crate) use demo::DemoArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use force::{AdmitArgs, DrainArgs};
pub(crate) use operate::{EnableArgs, PauseArgs};
pub(crate) use overrides::OverrideArgs;
pub(crate) use quarantine::{DropArgs, ListArgs, QuarantineAction, QuarantineArgs, RestageArgs, WhichArgs};
pub(crate) use read::{DoctorArgs, PartitionsArgs, PoliciesArgs, StatusArgs};
pub(crate) use run::RunArgs;
pub(crate) use set_up::{ApplyArgs, CheckArgs, InitArgs, MigrateArgs};
pub(crate) use stage::{CancelArgs, JobArgs, StageArgs};
pub(crate) use uninstall::UninstallArgs;

/// Fair admission in front of the PostgreSQL job queue you already run.
#[derive(Debug, Parser)]
#[command(name = "fairgate", version, after_long_help = AFTER)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "\
To start:
  fairgate init                      write a commented fairgate.toml
  fairgate migrate                   install schema fairgate beside the queue's tables
  fairgate run                       register what the file says, and admit jobs until stopped
  fairgate stage webhooks --task deliver --context '{\"account_id\": 7}'

The database is the one of --database-url, else of FAIRGATE_DATABASE_URL, else of DATABASE_URL.
Data goes to stdout, everything else to stderr.
Exit code 0: done; 1: failed; 2: wrong use or configuration.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(InitArgs),
    Migrate(MigrateArgs),
    Check(CheckArgs),
    Apply(ApplyArgs),
    Run(RunArgs),
    Demo(DemoArgs),
    Stage(StageArgs),
    Cancel(CancelArgs),
    Status(StatusArgs),
    Policies(PoliciesArgs),
    Partitions(PartitionsArgs),
    Explain(ExplainArgs),
    /// Stop the admission of a policy, or of one of its partitions; staging goes on
    #[command(after_long_help = operate::PAUSE)]
    Pause(PauseArgs),
    /// Let a paused policy or partition go on
    #[command(after_long_help = operate::RESUME)]
    Resume(PauseArgs),
    /// Enable fairgate again, everywhere or for one policy
    #[command(after_long_help = operate::ENABLE)]
    Enable(EnableArgs),
    /// Disable fairgate, everywhere or for one policy: new jobs go straight to the queue
    #[command(after_long_help = operate::DISABLE)]
    Disable(EnableArgs),
    Admit(AdmitArgs),
    Drain(DrainArgs),
    Override(OverrideArgs),
    Quarantine(QuarantineArgs),
    Doctor(DoctorArgs),
    Uninstall(UninstallArgs),
}

/// Which database.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArgs {
    /// The database that holds the queue's tables; else FAIRGATE_DATABASE_URL, else DATABASE_URL
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
}

/// Which configuration file.
#[derive(Debug, Clone, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration file
    #[arg(long, value_name = "FILE", default_value = "fairgate.toml")]
    pub(crate) config: PathBuf,
}

/// How to print.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct JsonArgs {
    /// Print one JSON document with stable keys instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// A duration on the command line: `30s`, `1h30m`.
fn duration(text: &str) -> Result<Duration, String> {
    fairgate_core::duration::parse_duration(text).map_err(|error| error.to_string())
}
