//! `fairgate partitions`.

use std::process::ExitCode;

use chrono::{DateTime, Utc};
use fairgate::observe::{self, PartitionSort, PartitionStatus};
use serde_json::json;

use crate::args::PartitionsArgs;
use crate::error::CliError;
use crate::output::{Column, Table, until};
use crate::{database, output};

pub(crate) async fn run(args: &PartitionsArgs) -> Result<ExitCode, CliError> {
    let sort = PartitionSort::from_name(&args.sort).unwrap_or_default();
    let mut connection = database::connect_migrated(&args.database).await?;
    let search = args.search.as_deref();
    let partitions = observe::partitions(&mut connection, &args.policy, search, sort, args.limit).await?;
    if args.output.json {
        output::print_json(&json!({ "policy": args.policy, "partitions": partitions }))?;
    } else if partitions.is_empty() {
        output::say("no partition matches; one appears when a job is staged");
    } else {
        let now = database::now(&mut connection).await?;
        output::print(&table(&partitions, now).text())?;
        if u32::try_from(partitions.len()) == Ok(args.limit) {
            output::say(&format!("these are the first {}; --limit and --search show others", args.limit));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn table(partitions: &[PartitionStatus], now: DateTime<Utc>) -> Table {
    let mut table = Table::new(&[
        Column::Text("PARTITION"),
        Column::Text("SHARD"),
        Column::Number("PENDING"),
        Column::Number("SCHEDULED"),
        Column::Number("IN FLIGHT"),
        Column::Number("ADMITTED"),
        Column::Text("NEXT LOOK"),
        Column::Text("HELD BY"),
    ]);
    for partition in partitions {
        table.row([
            partition.key.clone(),
            partition.shard.clone(),
            partition.pending.to_string(),
            partition.scheduled.to_string(),
            partition.in_flight.to_string(),
            partition.admitted.to_string(),
            next_look(partition, now),
            partition.denial.clone().unwrap_or_default(),
        ]);
    }
    table
}

fn next_look(partition: &PartitionStatus, now: DateTime<Utc>) -> String {
    match partition.due_at {
        _ if partition.paused => "paused".to_owned(),
        Some(at) if at > now => format!("in {}", until(now, at)),
        Some(_) => "now".to_owned(),
        None => String::new(),
    }
}
