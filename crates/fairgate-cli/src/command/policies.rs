//! `fairgate policies`.

use std::process::ExitCode;

use fairgate::observe::{self, PolicyStatus};
use fairgate_core::definition::Definition;
use serde_json::json;

use super::check::{gates, partition_by};
use super::status::state;
use crate::args::PoliciesArgs;
use crate::error::CliError;
use crate::output::{Column, Table};
use crate::{database, output};

pub(crate) async fn run(args: &PoliciesArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect_migrated(&args.database).await?;
    let policies = observe::policies(&mut connection).await?;
    if args.output.json {
        output::print_json(&json!({ "policies": policies }))?;
    } else if policies.is_empty() {
        output::say("no policy is registered; `fairgate apply` registers those of fairgate.toml");
    } else {
        output::print(&table(&policies).text())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(policies: &[PolicyStatus]) -> Table {
    let mut table = Table::new(&[
        Column::Text("POLICY"),
        Column::Number("REVISION"),
        Column::Text("STATE"),
        Column::Text("QUEUE"),
        Column::Text("PARTITION BY"),
        Column::Text("GATES"),
    ]);
    for policy in policies {
        // A definition that a newer version wrote is still listed.
        let definition: Option<Definition> = serde_json::from_value(policy.definition.clone()).ok();
        let told = |tell: fn(&Definition) -> String| definition.as_ref().map_or("?".to_owned(), tell);
        table.row([
            policy.name.clone(),
            policy.revision.to_string(),
            state(policy),
            policy.queue.clone(),
            told(partition_by),
            told(gates),
        ]);
    }
    table
}
