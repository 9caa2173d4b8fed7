use std::time::Duration;

use clap::Args;
use fairgate::{PolicyName, Shard};

use super::{AdminArgs, ConfigArgs, DatabaseArgs};

/// Register what the configuration says, then admit jobs until told to stop
///
/// Run as many as you like, on as many machines as you like: they share the work. Ctrl-C or SIGTERM ends it after the
/// tick that is under way; a second Ctrl-C ends it at once, which loses nothing either.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Serve this policy alone
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<PolicyName>,

    /// Serve this shard of the policy alone
    #[arg(long, value_name = "SHARD", requires = "policy")]
    pub(crate) shard: Option<Shard>,

    /// Install no triggers on the queue's tables; workers then report by fairgate.finished
    #[arg(long)]
    pub(crate) no_hooks: bool,

    /// Stop by itself after this long
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    pub(crate) duration: Option<Duration>,

    #[command(flatten)]
    pub(crate) admin: AdminArgs,
}

const EXAMPLES: &str = "\
The log goes to stderr; RUST_LOG says how much of it (default: info).

Examples:
  fairgate run
  fairgate run --admin-bind 0.0.0.0:8484 --admin-password secret
  fairgate run --config /etc/fairgate.toml --policy webhooks --shard eu
  RUST_LOG=fairgate=debug fairgate run --for 30s";
