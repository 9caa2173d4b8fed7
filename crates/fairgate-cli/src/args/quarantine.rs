use clap::{ArgGroup, Args, Subcommand};
use fairgate::{JobId, PolicyName};

use super::{DatabaseArgs, JsonArgs};

/// List, restage or drop the jobs that a queue refused for good
#[derive(Debug, Args)]
#[command(after_long_help = QUARANTINE)]
pub(crate) struct QuarantineArgs {
    #[command(subcommand)]
    pub(crate) action: QuarantineAction,
}

const QUARANTINE: &str = "\
A job that the queue refuses is tried again, and set aside with the queue's error after
max_forward_attempts tries. It stays there until it is restaged or dropped.

Examples:
  fairgate quarantine list webhooks
  fairgate quarantine restage 0198c2a4-7d1e-7000-8000-00000000002a
  fairgate quarantine drop --all webhooks --yes";

#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineAction {
    List(ListArgs),
    Restage(RestageArgs),
    Drop(DropArgs),
}

/// List them, the newest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// Only those of this policy
    pub(crate) policy: Option<PolicyName>,
}

/// Which quarantined jobs.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").args(["jobs", "all"]).required(true))]
pub(crate) struct WhichArgs {
    /// The ids that `fairgate quarantine list` shows
    #[arg(value_name = "JOB_ID")]
    pub(crate) jobs: Vec<JobId>,

    /// All of a policy
    #[arg(long, value_name = "POLICY", conflicts_with = "jobs")]
    pub(crate) all: Option<PolicyName>,
}

/// Put them back into staging, with their ids and no tries counted
#[derive(Debug, Args)]
pub(crate) struct RestageArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    #[command(flatten)]
    pub(crate) which: WhichArgs,
}

/// Delete them for good
#[derive(Debug, Args)]
pub(crate) struct DropArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    #[command(flatten)]
    pub(crate) which: WhichArgs,

    /// Needed with --all
    #[arg(long)]
    pub(crate) yes: bool,
}
