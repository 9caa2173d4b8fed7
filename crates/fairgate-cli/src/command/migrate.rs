//! `fairgate migrate`.

use std::process::ExitCode;

use crate::args::MigrateArgs;
use crate::error::CliError;
use crate::{database, output};

pub(crate) async fn run(args: &MigrateArgs) -> Result<ExitCode, CliError> {
    let mut connection = database::connect(&args.database).await?;
    if fairgate::migrate::is_migrated(&mut connection).await? {
        output::say("schema fairgate is up to date");
        return Ok(ExitCode::SUCCESS);
    }
    fairgate::migrate(&mut connection).await?;
    output::say("schema fairgate is installed and up to date");
    output::say("next: `fairgate apply` registers the policies, `fairgate run` does that and admits jobs");
    Ok(ExitCode::SUCCESS)
}
