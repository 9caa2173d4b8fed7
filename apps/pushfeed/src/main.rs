//! The `pushfeed` command.

use std::process::ExitCode;

use clap::Parser;
use pushfeed::cli::Cli;

#[tokio::main]
async fn main() -> ExitCode {
    match pushfeed::command::run(Cli::parse(), |name| std::env::var(name).ok()).await {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_code())
        }
    }
}
