use clap::Args;

use super::DatabaseArgs;

/// Remove the triggers and schema fairgate from the database
#[derive(Debug, Args)]
#[command(after_long_help = UNINSTALL)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    /// Send staged jobs straight to their queues first, scheduled ones with their time
    #[arg(long, conflicts_with = "drop_staged")]
    pub(crate) drain: bool,

    /// Delete staged and quarantined jobs
    #[arg(long)]
    pub(crate) drop_staged: bool,

    /// Do it; without, only say what would be done
    #[arg(long)]
    pub(crate) yes: bool,
}

const UNINSTALL: &str = "\
All or nothing, in one transaction. It is refused while jobs are staged, in flight or quarantined,
unless --drain or --drop-staged says what becomes of them. Jobs in flight are in their queues
already and run on there. Stop the tickers first: they find no schema afterwards.

Examples:
  fairgate uninstall                  say what would be removed
  fairgate uninstall --drain --yes";
