use clap::Args;

use super::{ConfigArgs, DatabaseArgs, JsonArgs};

/// Write a commented fairgate.toml to start from
#[derive(Debug, Args)]
#[command(after_long_help = INIT)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Overwrite the file if it is there
    #[arg(long, conflicts_with = "print")]
    pub(crate) force: bool,

    /// Print it on stdout instead of writing the file
    #[arg(long)]
    pub(crate) print: bool,
}

const INIT: &str = "\
Examples:
  fairgate init
  fairgate init --config deploy/fairgate.toml
  fairgate init --print | less";

/// Install schema fairgate in the database, or bring it up to date
#[derive(Debug, Args)]
#[command(after_long_help = MIGRATE)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

const MIGRATE: &str = "\
Safe to run again, and from several machines at once. It needs a direct connection, not one
through a pooler. The queue's own tables need not be there yet.

Examples:
  fairgate migrate --database-url postgres://app@db.example.org/app";

/// Validate the configuration file, without a database
#[derive(Debug, Args)]
#[command(after_long_help = CHECK)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,
}

const CHECK: &str = "\
Reports everything that is wrong at once, each with its line and column, and exits with 2. What is
allowed but worth knowing is said on stderr, and exits with 0.

Examples:
  fairgate check
  fairgate check --config deploy/fairgate.toml --json";

/// Register the queues and policies of the configuration file in the database
#[derive(Debug, Args)]
#[command(after_long_help = APPLY)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// Install no triggers on the queue's tables; workers then report by fairgate.finished
    #[arg(long)]
    pub(crate) no_hooks: bool,
}

const APPLY: &str = "\
Policies that are gone from the file are retired: they take no new jobs and keep those they have.
With `revision = N` in the file, an older file changes nothing. A queue whose schema is not there
yet is a warning: its policies take jobs, and `fairgate run` installs what it needs when the schema
appears. A queue whose tables do not fit is registered too, and exits with 1.

Examples:
  fairgate apply
  fairgate apply --config deploy/fairgate.toml --json";
