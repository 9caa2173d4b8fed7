use clap::Args;
use fairgate::PolicyName;

use super::DatabaseArgs;

#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    /// The policy
    pub(crate) policy: PolicyName,

    /// A single partition (not available yet)
    pub(crate) partition: Option<String>,
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
scheduled ones. A pause survives restarts and deploys. Jobs that are in the queue already run on.

Examples:
  fairgate pause webhooks
  fairgate resume webhooks";

pub(super) const RESUME: &str = "\
Examples:
  fairgate resume webhooks";

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
