use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use fairgate::overrides::Target;
use fairgate::{PartitionKey, PolicyName};

use super::{DatabaseArgs, JsonArgs, duration};

/// Override a limit of one partition for a while; list what is overridden, or end it early
#[derive(Debug, Args)]
#[command(after_long_help = OVERRIDE)]
pub(crate) struct OverrideArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,

    #[command(flatten)]
    pub(crate) output: JsonArgs,

    /// The policy
    pub(crate) policy: PolicyName,

    /// The partition, by its key; may be left out with --list
    #[arg(required_unless_present = "list")]
    pub(crate) partition: Option<PartitionKey>,

    /// What to override, and with what number; with --clear what to end, without a number
    #[arg(value_name = "GATE.PARAM=VALUE", required_unless_present_any = ["list", "clear"])]
    pub(crate) limit: Option<Limit>,

    /// For how long: 30s, 90m, 1h, 2d
    #[arg(long = "for", value_name = "DURATION", value_parser = duration, required_unless_present_any = ["list", "clear"])]
    pub(crate) lasts: Option<Duration>,

    /// Why, for those who find it
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["list", "clear"])]
    pub(crate) reason: Option<String>,

    /// Print the overrides in force
    #[arg(long, conflicts_with_all = ["clear", "limit", "lasts", "reason"])]
    pub(crate) list: bool,

    /// End an override, or all of the partition, now
    #[arg(long, conflicts_with_all = ["lasts", "reason"])]
    pub(crate) clear: bool,
}

/// `GATE.PARAM=VALUE`, or `GATE.PARAM`.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) target: Target,
    pub(crate) value: Option<f64>,
}

impl FromStr for Limit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (target, value) = match text.split_once('=') {
            Some((target, value)) => {
                let number = value.parse().map_err(|_| format!("\"{value}\" is not a number"))?;
                (target, Some(number))
            }
            None => (text, None),
        };
        let target = target.parse::<Target>().map_err(|error| error.to_string())?;
        Ok(Self { target, value })
    }
}

const OVERRIDE: &str = "\
A number of a gate (rate and burst of a throttle, max of a concurrency gate, initial_max,
target_lag_ms, min and max of an adaptive one) counts as VALUE for this partition, from the next
tick on and whatever the policy or the context says. It ends by itself, and what waits is looked at
again then. A gate without a name of its own is called by its type. A second override of the same
number takes the place of the first. The database user and yours, the time and the reason are kept
with it; `fairgate explain` shows them, and so does the view fairgate.overrides. --json prints what
was made, what --list lists, or how many --clear ended.

Examples:
  fairgate override webhooks acct:7 concurrency.max=50 --for 1h --reason 'import of their archive'
  fairgate override webhooks --list
  fairgate override webhooks acct:7 concurrency.max --clear
  fairgate override webhooks acct:7 --clear";
