//! `fairgate init`: a file to start from. It never overwrites one that it was not told to.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

use fairgate::config::Config;

use crate::args::InitArgs;
use crate::error::CliError;
use crate::output;

pub(crate) fn run(args: &InitArgs) -> Result<ExitCode, CliError> {
    if args.print {
        output::print(Config::example())?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = &args.config.config;
    write(path, args.force).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CliError::usage(format!("{} is there already", path.display()))
            .hint("--force overwrites it, --print shows what would be written, --config names another file"),
        _ => CliError::failed(format!("cannot write {}: {error}", path.display())),
    })?;
    output::say(&format!("wrote {}", path.display()));
    output::say("next: edit it, then `fairgate check`, `fairgate migrate` and `fairgate run`");
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, overwrite: bool) -> std::io::Result<()> {
    let mut file = if overwrite { File::create(path)? } else { File::create_new(path)? };
    file.write_all(Config::example().as_bytes())
}
