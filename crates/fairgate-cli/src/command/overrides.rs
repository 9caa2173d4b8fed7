//! `fairgate override`.

use std::process::ExitCode;

use chrono::{DateTime, Utc};
use fairgate::overrides::{self, NewOverride, Override};
use fairgate::{PartitionKey, PolicyName};
use serde_json::json;

use crate::args::OverrideArgs;
use crate::error::CliError;
use crate::output::{Column, Table, until};
use crate::{database, output};

pub(crate) async fn run(args: &OverrideArgs) -> Result<ExitCode, CliError> {
    match (&args.partition, args.list, args.clear) {
        (partition, true, _) => list(args, partition.as_ref()).await,
        (Some(partition), _, true) => clear(args, partition).await,
        (Some(partition), ..) => make(args, partition).await,
        (None, ..) => Err(CliError::usage("a partition is missing")),
    }
}

async fn make(args: &OverrideArgs, partition: &PartitionKey) -> Result<ExitCode, CliError> {
    let (Some(limit), Some(lasts), Some(reason)) = (&args.limit, args.lasts, &args.reason) else {
        return Err(CliError::usage("GATE.PARAM=VALUE, --for and --reason belong together"));
    };
    let Some(value) = limit.value else {
        return Err(CliError::usage(format!("{} needs a number", limit.target))
            .hint(format!("write {}=VALUE, or --clear to end its override", limit.target)));
    };
    let (target, reason) = (limit.target.clone(), reason.clone());
    let new = NewOverride { target, value, lasts, reason, who: os_user() };
    let mut connection = database::connect_migrated(&args.database).await?;
    let made = overrides::make(&mut connection, &args.policy, partition, &new).await?;
    if args.output.json {
        output::print_json(&made)?;
    } else {
        output::say(&format!(
            "{} of {} is {} until {}; then it ends by itself",
            limit.target,
            what(partition, &args.policy),
            made.value,
            made.until.format("%Y-%m-%dT%H:%M:%SZ")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

async fn clear(args: &OverrideArgs, partition: &PartitionKey) -> Result<ExitCode, CliError> {
    if let Some(limit) = args.limit.as_ref().filter(|limit| limit.value.is_some()) {
        return Err(CliError::usage("--clear takes no number").hint(format!("write {}", limit.target)));
    }
    let target = args.limit.as_ref().map(|limit| &limit.target);
    let mut connection = database::connect_migrated(&args.database).await?;
    let ended = overrides::clear(&mut connection, &args.policy, partition, target).await?;
    if args.output.json {
        output::print_json(&json!({ "ended": ended }))?;
    } else {
        let what = what(partition, &args.policy);
        output::say(&match ended {
            0 => format!("no such override of {what} is in force"),
            1 => format!("1 override of {what} has ended"),
            n => format!("{n} overrides of {what} have ended"),
        });
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(args: &OverrideArgs, partition: Option<&PartitionKey>) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let list = overrides::list(&mut connection, &args.policy, partition).await?;
    if args.output.json {
        output::print_json(&json!({ "policy": args.policy, "overrides": list }))?;
    } else if list.is_empty() {
        output::say("no override is in force");
    } else {
        let now = database::now(&mut connection).await?;
        output::print(&table(&list, now).text())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Overrides as people read them.
pub(super) fn table(list: &[Override], now: DateTime<Utc>) -> Table {
    let mut table = Table::new(&[
        Column::Text("OVERRIDDEN"),
        Column::Text("PARTITION"),
        Column::Number("VALUE"),
        Column::Number("ENDS IN"),
        Column::Text("BY"),
        Column::Text("REASON"),
    ]);
    for one in list {
        table.row([
            format!("{}.{}", one.gate, one.parameter),
            one.partition.clone().unwrap_or_default(),
            one.value.to_string(),
            until(now, one.until),
            one.who.clone(),
            one.reason.clone(),
        ]);
    }
    table
}

fn what(partition: &PartitionKey, policy: &PolicyName) -> String {
    format!("partition {:?} of policy \"{policy}\"", partition.as_str())
}

/// Who runs the program, as the shell says.
fn os_user() -> Option<String> {
    let name = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
    name("USER").or_else(|| name("LOGNAME")).or_else(|| name("USERNAME"))
}
