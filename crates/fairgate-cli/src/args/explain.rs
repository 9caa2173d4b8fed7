use clap::Args;
use fairgate::PartitionKey;

use super::{DatabaseArgs, JsonArgs};

/// Say what a job, or a partition's next job, waits for
#[derive(Debug, Args)]
#[command(after_long_help = EXPLAIN)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// A job's id; or, before a partition, a policy
    #[arg(value_name = "JOB_ID|POLICY")]
    pub(crate) what: String,

    /// The partition, by its key
    pub(crate) partition: Option<PartitionKey>,
}

const EXPLAIN: &str = "\
Judged in one snapshot, by the code that admits: which gate holds it and how far that is used, who
holds the slots, its place in line, and either the instant before which it will not go, or what it
waits for. An id that is not known is an answer, and exits with 0.

Examples:
  fairgate explain 0198c2a4-7d1e-7000-8000-00000000002a
  fairgate explain webhooks acct:7 --json";
