//! `fairgate check`: the file alone, no database.

use std::process::ExitCode;

use fairgate::Policy;
use fairgate::config::{Config, ConfigErrors};
use fairgate_core::definition::{Definition, KeySource};
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::error::CliError;
use crate::output::{Column, Table};
use crate::{config, output};

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let file = args.config.config.display().to_string();
    match Config::parse(&config::read(&args.config.config)?, &file) {
        Ok(found) => {
            config::say_notes(&found);
            if args.output.json {
                output::print_json(&summary(&file, &found))?;
            } else {
                output::print(&text(&file, &found))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(errors) => {
            if args.output.json {
                output::print_json(&refusal(&errors))?;
            }
            Err(errors.into())
        }
    }
}

fn text(file: &str, config: &Config) -> String {
    let mut table = Table::new(&[
        Column::Text("POLICY"),
        Column::Text("QUEUE"),
        Column::Text("PARTITION BY"),
        Column::Text("GATES"),
    ]);
    for policy in &config.policies {
        let definition = policy.definition();
        table.row([
            policy.name().to_string(),
            policy.queue().to_string(),
            partition_by(&definition),
            gates(&definition),
        ]);
    }
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    format!(
        "{file} is fine: {}, {}\n\n{}",
        count(config.queues.len(), "queue", "queues"),
        count(config.policies.len(), "policy", "policies"),
        table.text()
    )
}

/// What makes a partition, as it was written.
pub(super) fn partition_by(definition: &Definition) -> String {
    match &definition.partition_by {
        KeySource::Template(template) => template.to_string(),
        KeySource::Computed => "(computed by a program)".to_owned(),
    }
}

/// The gates by name, in the order in which they are asked.
pub(super) fn gates(definition: &Definition) -> String {
    if definition.gates.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<&str> = definition.gates.iter().map(|gate| gate.name.as_str()).collect();
    names.join(", ")
}

fn summary(file: &str, config: &Config) -> Value {
    let policy = |policy: &Policy| json!({ "name": policy.name(), "definition": policy.definition() });
    json!({
        "file": file,
        "problems": [],
        "notes": config.notes,
        "revision": config.revision,
        "queues": config.queues.iter()
            .map(|queue| json!({ "name": queue.name, "type": queue.kind, "schema": queue.schema }))
            .collect::<Vec<_>>(),
        "policies": config.policies.iter().map(policy).collect::<Vec<_>>(),
    })
}

fn refusal(errors: &ConfigErrors) -> Value {
    let problems: Vec<Value> = (errors.problems().iter())
        .map(|problem| {
            json!({ "line": problem.line, "column": problem.column, "at": problem.at, "message": problem.message })
        })
        .collect();
    json!({ "file": errors.file(), "problems": problems })
}
