use clap::Args;
use fairgate::{PartitionKey, PolicyName};

use super::DatabaseArgs;

#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    /// The policy
    pub(crate) policy: PolicyName,

    /// A single partition of it, by its key; left out: the whole policy
    pub(crate) partition: Option<PartitionKey>,
}

#[derive(Debug, Args)]
pub(crate) struct EnableArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    /// The policy; left out: fairgate as a whole
    pub(crate) policy: Option<PolicyName>,
}

pub(super) const PAUSE: &str = "\
Once it returns, no tick admits jobs of the policy, not of partitions that appear later and not
scheduled ones; or, with a partition, no jobs of that one. A partition appears with its first job,
and cannot be paused before. A pause survives restarts and deploys, and a paused partition is kept
although it is empty. Jobs that are in the queue already run on.

Examples:
  fairgate pause webhooks
  fairgate pause webhooks acct:7
  fairgate resume webhooks acct:7";

pub(super) const RESUME: &str = "\
A policy and its partitions are paused and resumed apart: jobs go when neither is paused.

Examples:
  fairgate resume webhooks
  fairgate resume webhooks acct:7";

pub(super) const ENABLE: &str = "\
A policy has a switch of its own beside the one for all: it admits when both are on.

Examples:
  fairgate enable              turn the switch for all on
  fairgate enable webhooks     turn the policy's own switch on";

pub(super) const DISABLE: &str = "\
Once it returns, no tick admits. New jobs go straight to the queue, in the transaction that stages
them. Jobs that wait in staging stay there until fairgate is enabled again.

Examples:
  fairgate disable             everywhere
  fairgate disable webhooks    for one policy";
