//! `fairgate explain`.

use std::process::ExitCode;

use chrono::{DateTime, Utc};
use fairgate::observe::{
    self, Event, GateStanding, Hold, JobExplanation, PartitionExplanation, ScopeStanding, Slot, StagedJob,
};
use fairgate::{JobId, PolicyName};

use crate::args::ExplainArgs;
use crate::error::CliError;
use crate::output::{Column, Table, ago, until};
use crate::{database, output};

pub(crate) async fn run(args: &ExplainArgs) -> Result<ExitCode, CliError> {
    match &args.partition {
        None => job(args, parse(&args.what)?).await,
        Some(partition) => {
            let policy: PolicyName = parse(&args.what)?;
            let mut connection = database::connect_migrated(&args.database).await?;
            let told = observe::explain_partition(&mut connection, &[], &policy, partition, None).await?;
            if args.output.json {
                output::print_json(&told)?;
            } else {
                output::print(
                    &(partition_head(&told) + &going(told.earliest, &told.holds, &told) + &rest(&told)),
                )?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, CliError> {
    text.parse().map_err(|error: T::Err| {
        CliError::usage(error.to_string()).hint("give a job id, or a policy and the key of a partition")
    })
}

async fn job(args: &ExplainArgs, job: JobId) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let told = observe::explain_job(&mut connection, &[], job, None).await?;
    if args.output.json {
        output::print_json(&told)?;
    } else {
        let now = database::now(&mut connection).await?;
        output::print(&text(&told, now))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(told: &JobExplanation, now: DateTime<Utc>) -> String {
    match told {
        JobExplanation::Staged(job) => {
            let partition = &job.partition;
            staged_head(job) + &going(job.earliest, &job.holds, partition) + &rest(partition)
        }
        JobExplanation::InFlight(job) => {
            let slot = &job.slot;
            let run = match slot.started_at {
                Some(at) => format!("started {} ago", ago(now, at)),
                None => "no start was seen".to_owned(),
            };
            format!(
                "job {} of policy \"{}\" is in flight since {} ago; {run}\nqueue \"{}\" has it as {}\n",
                slot.job_id,
                job.policy,
                ago(now, slot.admitted_at),
                job.queue,
                slot.queue_job_id
            )
        }
        JobExplanation::Quarantined(job) => format!(
            "job {} of policy \"{}\" is quarantined since {} ago: its queue refused it {} times, last with\n  {}\n`fairgate quarantine restage` puts it back\n",
            job.job_id,
            job.policy,
            ago(now, job.quarantined_at),
            job.forward_attempts,
            job.error
        ),
        JobExplanation::Gone { job_id } => format!(
            "job {job_id} is not here: it is done, was cancelled, was sent while fairgate was disabled, or never was\n"
        ),
    }
}

fn staged_head(job: &StagedJob) -> String {
    let place = match job.ahead {
        0 => "next in line".to_owned(),
        1 => "1 job goes before it".to_owned(),
        ahead => format!("{ahead} jobs go before it"),
    };
    let mut head = format!(
        "job {} waits in partition {:?} of policy \"{}\"; {place}\n",
        job.job_id, job.partition.partition, job.partition.policy
    );
    if let Some(error) = &job.forward_error {
        head += &format!("its queue refused it {} times, last with: {error}\n", job.forward_attempts);
    }
    head
}

fn partition_head(told: &PartitionExplanation) -> String {
    format!(
        "partition {:?} of policy \"{}\": {} waiting, {} scheduled, {} in flight\n",
        told.partition, told.policy, told.pending, told.scheduled, told.in_flight
    )
}

/// When it goes, or what it waits for.
fn going(earliest: Option<DateTime<Utc>>, holds: &[Hold], told: &PartitionExplanation) -> String {
    let mut text = match earliest {
        Some(at) if at <= told.now => "nothing holds it: it goes at the next tick\n".to_owned(),
        Some(at) => format!(
            "it will not go before {} (in {})\n",
            at.format("%Y-%m-%dT%H:%M:%S%.3fZ"),
            until(told.now, at)
        ),
        None if told.pending + told.scheduled == 0 => "nothing waits\n".to_owned(),
        None => String::new(),
    };
    for hold in holds {
        text += &format!("waits for {}: {}\n", event(hold.event), hold.why);
    }
    text
}

fn event(event: Event) -> &'static str {
    match event {
        Event::RunAt => "its time",
        Event::Ticker => "a ticker",
        Event::Finish => "a job to finish",
        Event::ContextChange => "a newer context",
        Event::Resume => "`fairgate resume`",
        Event::Enable => "`fairgate enable`",
        Event::Apply => "`fairgate apply`",
        Event::QueueReady => "its queue",
        Event::Workers => "workers to begin jobs",
        Event::Turn => "its turn",
        Event::Program => "another program",
    }
}

/// The gates, and who holds the slots.
fn rest(told: &PartitionExplanation) -> String {
    let mut text = String::new();
    if !told.gates.is_empty() {
        let shared = told.gates.iter().any(|gate| gate.scope.is_some());
        let mut columns = vec![Column::Text("GATE"), Column::Text("TYPE")];
        columns.extend(shared.then_some(Column::Text("SCOPE")));
        columns.extend([Column::Text("USED"), Column::Number("ALLOWS NOW"), Column::Text("BECAUSE")]);
        let mut table = Table::new(&columns);
        for gate in &told.gates {
            let because = gate.denial.as_ref().map(ToString::to_string).unwrap_or_default();
            let because = match (gate.shadow, because.as_str()) {
                (false, _) => because,
                (true, "") => "shadow: holds nobody".to_owned(),
                (true, why) => format!("shadow: holds nobody; {why}"),
            };
            let mut row = vec![gate.gate.clone(), gate.kind.to_owned()];
            row.extend(shared.then(|| scope(gate)));
            let used = gate.used.zip(gate.limit).map(|(used, limit)| format!("{used} of {limit}"));
            row.extend([used.unwrap_or_default(), gate.allows.to_string(), because]);
            table.row(row);
        }
        text += &format!("\n{}", table.text());
    }
    if !told.overrides.is_empty() {
        text += &format!("\n{}", super::overrides::table(&told.overrides, told.now).text());
    }
    text += &holders("IN FLIGHT, THE OLDEST", &told.slots, told.now);
    for gate in &told.gates {
        let slots = gate.scope.as_ref().map_or(&[][..], |scope| &scope.slots);
        if !slots.is_empty() {
            text += &format!("\nall slots of gate {} are held:", gate.gate);
            text += &holders("HOLDS A SLOT, THE OLDEST", slots, told.now);
        }
    }
    text
}

/// What a gate counts together.
fn scope(gate: &GateStanding) -> String {
    match &gate.scope {
        None => "the partition".to_owned(),
        Some(ScopeStanding { key: None, .. }) => "the policy".to_owned(),
        Some(ScopeStanding { key: Some(key), .. }) => format!("{key:?}"),
    }
}

/// Who holds slots; nothing when nobody does.
fn holders(title: &'static str, slots: &[Slot], now: DateTime<Utc>) -> String {
    if slots.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        Column::Text(title),
        Column::Number("SINCE"),
        Column::Text("STARTED"),
        Column::Text("FORCED"),
        Column::Text("QUEUE'S ID"),
    ]);
    for slot in slots {
        table.row([
            slot.job_id.to_string(),
            ago(now, slot.admitted_at),
            slot.started_at.map(|at| format!("{} ago", ago(now, at))).unwrap_or_default(),
            if slot.forced { "yes" } else { "" }.to_owned(),
            slot.queue_job_id.clone(),
        ]);
    }
    format!("\n{}", table.text())
}
