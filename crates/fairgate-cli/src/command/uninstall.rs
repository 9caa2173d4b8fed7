//! `fairgate uninstall`.

use std::process::ExitCode;

use fairgate::uninstall::{self, Holdings, Jobs, UninstallError};

use super::force::jobs;
use crate::args::UninstallArgs;
use crate::error::CliError;
use crate::{database, output};

pub(crate) async fn run(args: &UninstallArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect(&args.database).await?;
    if !uninstall::is_installed(&mut connection).await? {
        output::say("schema fairgate is not in this database: there is nothing to remove");
        return Ok(ExitCode::SUCCESS);
    }
    let what = match (args.drain, args.drop_staged) {
        (true, _) => Jobs::Drain,
        (_, true) => Jobs::Drop,
        _ => Jobs::Refuse,
    };
    let held = uninstall::holdings(&mut connection).await?;
    output::say(&plan(&held, what));
    if !args.yes {
        return Err(CliError::usage("nothing was removed").hint("add --yes to do it"));
    }
    uninstall::uninstall(&mut connection, &[], what).await?;
    output::say("fairgate is removed from this database");
    Ok(ExitCode::SUCCESS)
}

fn plan(held: &Holdings, what: Jobs) -> String {
    let count = |n: i64| jobs(n.unsigned_abs());
    let mut lines = vec![format!(
        "to be removed: our triggers on the queues' tables, and schema fairgate with {}",
        if held.policies == 1 { "1 policy".to_owned() } else { format!("{} policies", held.policies) }
    )];
    if held.staged > 0 {
        lines.push(match what {
            Jobs::Refuse => format!("{} staged: say --drain or --drop-staged", count(held.staged)),
            Jobs::Drain => format!("{} staged: sent to their queues", count(held.staged)),
            Jobs::Drop => format!("{} staged: deleted", count(held.staged)),
        });
    }
    if held.in_flight > 0 {
        lines.push(match what {
            Jobs::Refuse => format!("{} in flight: wait for them, or say --drain", count(held.in_flight)),
            Jobs::Drain | Jobs::Drop => {
                format!("{} in flight: run on in their queues", count(held.in_flight))
            }
        });
    }
    if held.quarantined > 0 {
        lines.push(match what {
            Jobs::Drop => format!("{} quarantined: deleted", count(held.quarantined)),
            _ => format!(
                "{} quarantined: `fairgate quarantine` restages or drops them, or say --drop-staged",
                count(held.quarantined)
            ),
        });
    }
    if held.tickers > 0 {
        lines.push(format!("tickers at work: {}; stop them first", held.tickers));
    }
    lines.join("\n")
}

impl From<UninstallError> for CliError {
    fn from(error: UninstallError) -> Self {
        let message = error.to_string();
        match error {
            UninstallError::Database(error) => error.into(),
            UninstallError::Jobs(_) => Self::failed(message)
                .hint("nothing was removed; --drain sends staged jobs to their queues, --drop-staged deletes staged and quarantined ones"),
            UninstallError::QueueNotReady { .. } => {
                Self::failed(message).hint("nothing was removed; --drop-staged deletes them instead")
            }
        }
    }
}
