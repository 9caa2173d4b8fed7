use clap::Args;
use fairgate::PolicyName;
use fairgate::observe::PartitionSort;

use super::{DatabaseArgs, JsonArgs};

/// Show what waits, what is in flight, and what holds it
#[derive(Debug, Args)]
#[command(after_long_help = STATUS)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,
}

const STATUS: &str = "\
Examples:
  fairgate status
  fairgate status --json | jq '.policies[] | {name, pending, in_flight}'";

/// List the registered policies and their rules
#[derive(Debug, Args)]
#[command(after_long_help = POLICIES)]
pub(crate) struct PoliciesArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,
}

const POLICIES: &str = "\
Examples:
  fairgate policies
  fairgate policies --json | jq '.policies[] | select(.name == \"webhooks\") | .definition'";

/// List the partitions of a policy
#[derive(Debug, Args)]
#[command(after_long_help = PARTITIONS)]
pub(crate) struct PartitionsArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// The policy
    pub(crate) policy: PolicyName,

    /// Only partitions whose key contains this text, taken literally
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,

    /// What comes first: most waiting, most in flight, the key, due soonest, or most recently active
    #[arg(long, value_name = "SORT", default_value = PartitionSort::NAMES[0], value_parser = PartitionSort::NAMES)]
    pub(crate) sort: String,

    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) limit: u32,
}

const PARTITIONS: &str = "\
Examples:
  fairgate partitions webhooks
  fairgate partitions webhooks --search acct:7 --sort in_flight --limit 10 --json";

/// Look for everything that can be wrong, and say what to do about it
#[derive(Debug, Args)]
#[command(after_long_help = DOCTOR)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,
}

const DOCTOR: &str = "\
Exits with 1 if there is a problem; a warning alone exits with 0.

Examples:
  fairgate doctor
  fairgate doctor --json | jq '.findings[] | select(.severity != \"ok\")'";
