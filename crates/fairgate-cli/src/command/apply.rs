//! `fairgate apply`: registers what the file says. `fairgate run` does the same first.

use std::process::ExitCode;

use fairgate::config::Config;
use fairgate::registry::{self, Applied, Options, PolicyOutcome, QueueState, Source};
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::args::ApplyArgs;
use crate::error::CliError;
use crate::output::{Column, Table};
use crate::{config, database, output};

pub(crate) async fn run(args: &ApplyArgs) -> Result<ExitCode, CliError> {
    let config = config::load(&args.config.config)?;
    let mut connection = database::connect_migrated(&args.database).await?;
    let applied = register(&mut connection, &config, !args.no_hooks, true).await?;
    if args.output.json {
        output::print_json(&document(&applied))?;
    } else {
        output::print(&text(&applied))?;
    }
    warn(&applied);
    let usable = |state: &QueueState| matches!(state, QueueState::Ready | QueueState::Missing { .. });
    let fine = applied.queues.iter().all(|(_, state)| usable(state));
    Ok(if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Registers the queues and policies of a file. `go_back`: an operator means it when an earlier file comes back.
pub(super) async fn register(
    connection: &mut PgConnection,
    config: &Config,
    hooks: bool,
    go_back: bool,
) -> Result<Applied, CliError> {
    let queues = config::queue_specs(&config.queues)?;
    let options = Options { source: Source::File, revision: config.revision, hooks, go_back };
    Ok(registry::apply(connection, &queues, &config.policies, options).await?)
}

/// Says which queues take no jobs and which policies were left alone.
pub(super) fn warn(applied: &Applied) {
    for (queue, state) in &applied.queues {
        if let Some(problem) = state.problem() {
            output::say(&format!("warning: queue \"{queue}\" is not ready: {problem}"));
            output::say(&format!("  hint: {}", advice(state)));
        }
    }
    for (policy, outcome) in &applied.policies {
        if let PolicyOutcome::OlderLeftAlone { registered } = outcome {
            output::say(&format!(
                "warning: policy \"{policy}\" is older in this file than in the database, which stays at revision {registered}"
            ));
            output::say(
                "  hint: to go back on purpose, remove `revision` from the file or raise it, then `fairgate apply`",
            );
        }
    }
}

/// What to do about a queue that is not ready.
fn advice(state: &QueueState) -> &'static str {
    match state {
        QueueState::Ready | QueueState::Missing { .. } => {
            "its policies take jobs meanwhile, and `fairgate run` installs what it needs when the schema appears"
        }
        QueueState::Misfit { .. } => "its policies take jobs, but none is admitted until the tables fit",
        QueueState::Refused { .. } => {
            "apply as a user who may create triggers on the queue's tables, or with --no-hooks"
        }
    }
}

fn text(applied: &Applied) -> String {
    let mut table = Table::new(&[Column::Text("WHAT"), Column::Text("NAME"), Column::Text("OUTCOME")]);
    for (name, state) in &applied.queues {
        table.row(["queue".to_owned(), name.to_string(), queue_word(state).replace('_', " ")]);
    }
    for (name, outcome) in &applied.policies {
        let (word, revision) = policy_words(outcome);
        let revision = revision.map(|revision| format!(", revision {revision}")).unwrap_or_default();
        table.row(["policy".to_owned(), name.clone(), format!("{}{revision}", word.replace('_', " "))]);
    }
    table.text()
}

fn document(applied: &Applied) -> Value {
    let queues: Vec<Value> = (applied.queues.iter())
        .map(|(name, state)| json!({ "name": name, "state": queue_word(state), "problem": state.problem() }))
        .collect();
    let policies: Vec<Value> = (applied.policies.iter())
        .map(|(name, outcome)| {
            let (word, revision) = policy_words(outcome);
            json!({ "name": name, "outcome": word, "revision": revision })
        })
        .collect();
    json!({ "queues": queues, "policies": policies })
}

fn queue_word(state: &QueueState) -> &'static str {
    match state {
        QueueState::Ready => "ready",
        QueueState::Missing { .. } => "missing",
        QueueState::Misfit { .. } => "misfit",
        QueueState::Refused { .. } => "refused",
    }
}

/// The outcome, and the revision that is in force now.
fn policy_words(outcome: &PolicyOutcome) -> (&'static str, Option<u32>) {
    match outcome {
        PolicyOutcome::Registered { revision } => ("registered", Some(*revision)),
        PolicyOutcome::Updated { revision } => ("updated", Some(*revision)),
        PolicyOutcome::Unchanged { revision } => ("unchanged", Some(*revision)),
        PolicyOutcome::OlderLeftAlone { registered } => ("older_left_alone", Some(*registered)),
        PolicyOutcome::Retired => ("retired", None),
    }
}
