use std::time::Duration;

use clap::Args;

use super::{DatabaseArgs, JsonArgs};

/// Run real jobs of many tenants through a real queue, and show that no limit was exceeded
///
/// Without a database URL a private local PostgreSQL is started for it, and stopped at the end.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// Where the admin pages are served, on 127.0.0.1
    #[arg(long, value_name = "PORT", default_value_t = 8484)]
    pub(crate) port: u16,

    /// The queue to put fairgate in front of: Graphile Worker with its own workers, another by its SQL; "table" is River's
    #[arg(long, value_name = "NAME", default_value = "graphile_worker", value_parser = ["graphile_worker", "apalis", "pgmq", "pg_boss", "procrastinate", "underway", "table"])]
    pub(crate) queue: String,

    /// Serve no admin pages
    #[arg(long)]
    pub(crate) headless: bool,

    /// Stage jobs for this long, wait until they are done, then end; left out: until Ctrl-C
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    pub(crate) duration: Option<Duration>,
}

const EXAMPLES: &str = "\
Examples:
  fairgate demo                                 until Ctrl-C
  fairgate demo --headless --for 20s --json     one JSON document at the end

With --for, exits with 1 if not every staged job was done soon after.";
