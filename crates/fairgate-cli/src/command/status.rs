//! `fairgate status`.

use std::process::ExitCode;

use chrono::{DateTime, Utc};
use fairgate::observe::{self, PolicyStatus, Status};

use crate::args::StatusArgs;
use crate::error::CliError;
use crate::output::{Column, Table, ago};
use crate::{database, output};

pub(crate) async fn run(args: &StatusArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let status = observe::status(&mut connection).await?;
    if args.output.json {
        output::print_json(&status)?;
    } else {
        let now = database::now(&mut connection).await?;
        output::print(&text(&status, now))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(status: &Status, now: DateTime<Utc>) -> String {
    let mut text = format!(
        "fairgate is {}; {} seen in the last minute\n",
        if status.enabled { "enabled" } else { "disabled" },
        match status.tickers {
            0 => "no ticker".to_owned(),
            1 => "1 ticker".to_owned(),
            tickers => format!("{tickers} tickers"),
        }
    );
    if status.quarantined > 0 {
        text += &format!(
            "{} jobs were refused by their queue for good (`fairgate quarantine list`)\n",
            status.quarantined
        );
    }
    if status.lost_keys > 0 {
        text += &format!("{}\n", lost_keys(status.lost_keys));
    }
    if status.policies.is_empty() {
        return text + "no policy is registered; `fairgate apply` registers those of fairgate.toml\n";
    }
    text + "\n" + &table(&status.policies, now).text()
}

fn lost_keys(count: i64) -> String {
    let (jobs, their) =
        if count == 1 { ("1 job".to_owned(), "its key") } else { (format!("{count} jobs"), "their keys") };
    format!(
        "{jobs} lost {their}: while a failed attempt waited to be tried again, another job took the dedupe key, and both go on \
         (they are listed in fairgate.lost_key, for as long as samples are kept)"
    )
}

fn table(policies: &[PolicyStatus], now: DateTime<Utc>) -> Table {
    let mut table = Table::new(&[
        Column::Text("POLICY"),
        Column::Text("STATE"),
        Column::Number("PARTITIONS"),
        Column::Number("PENDING"),
        Column::Number("SCHEDULED"),
        Column::Number("IN FLIGHT"),
        Column::Number("ADMITTED/MIN"),
        Column::Number("OLDEST WAITS"),
        Column::Text("HELD BY (LAST MINUTE)"),
    ]);
    for policy in policies {
        table.row([
            policy.name.clone(),
            state(policy),
            policy.partitions.to_string(),
            policy.pending.to_string(),
            policy.scheduled.to_string(),
            policy.in_flight.to_string(),
            policy.admitted_last_minute.to_string(),
            policy.oldest_ready_at.map(|at| ago(now, at)).unwrap_or_default(),
            denials(&policy.denials_last_minute),
        ]);
    }
    table
}

/// The first thing that keeps a policy from admitting.
pub(super) fn state(policy: &PolicyStatus) -> String {
    let word = if policy.retired {
        "retired"
    } else if !policy.enabled {
        "disabled"
    } else if policy.paused {
        "paused"
    } else if !policy.queue_ready {
        "queue not ready"
    } else {
        "admitting"
    };
    word.to_owned()
}

/// `throttle 12, concurrency 3`: the most frequent reason first.
fn denials(counts: &serde_json::Value) -> String {
    let mut counts: Vec<(&str, i64)> = (counts.as_object().into_iter().flatten())
        .map(|(reason, count)| (reason.as_str(), count.as_i64().unwrap_or(0)))
        .collect();
    counts.sort_by_key(|(reason, count)| (-count, *reason));
    let texts: Vec<String> = counts.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    texts.join(", ")
}
