use clap::Args;
use fairgate::{PartitionKey, PolicyName};

use super::{DatabaseArgs, JsonArgs};

/// Admit jobs of a partition now, whatever gates and pauses say
#[derive(Debug, Args)]
#[command(after_long_help = ADMIT)]
pub(crate) struct AdmitArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// The policy
    pub(crate) policy: PolicyName,

    /// The partition, by its key
    pub(crate) partition: PartitionKey,

    /// At most this many jobs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: u32,
}

const ADMIT: &str = "\
The next jobs of the partition, in their order, go to the queue. They count as in flight, are marked
as forced, and leave buckets in debt, so the partition waits longer afterwards. It works while the
policy is paused or disabled; only a queue that is not ready stops it. Scheduled jobs keep waiting
for their time.

Examples:
  fairgate admit webhooks acct:7 --count 10";

/// Admit everything that waits now, whatever gates and pauses say
#[derive(Debug, Args)]
#[command(after_long_help = DRAIN)]
pub(crate) struct DrainArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// The policy
    pub(crate) policy: PolicyName,

    /// A single partition of it, by its key; left out: the whole policy
    pub(crate) partition: Option<PartitionKey>,
}

const DRAIN: &str = "\
What waits at this moment goes, in batches; what is staged meanwhile does not. Otherwise as
`fairgate admit`. Jobs whose run_at is still to come are counted and stay.

Examples:
  fairgate drain webhooks
  fairgate drain webhooks acct:7 --json";
