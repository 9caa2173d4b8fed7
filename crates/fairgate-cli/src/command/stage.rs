//! `fairgate stage`: one job, or a file of them.

mod input;
mod line;
mod lines;
mod many;
mod one;

use std::process::ExitCode;

use crate::args::StageArgs;
use crate::database;
use crate::error::CliError;

pub(crate) async fn run(args: &StageArgs) -> Result<ExitCode, CliError> {
    match (&args.ndjson, &args.task) {
        (Some(path), _) => {
            let mut source = input::lines(path)?;
            let mut connection = database::connect(&args.database).await?;
            many::stage(&mut connection, args, &mut *source).await
        }
        (None, Some(task)) => one::stage(args, task).await,
        (None, None) => Err(CliError::usage("no job is given").hint("give --task or --ndjson")),
    }
}
