//! The `fairgate` command: arguments, a call into the library, output.
//!
//! Data goes to stdout, everything else to stderr. Exit code 0: done; 1: failed; 2: wrong use or configuration.

mod admin;
mod args;
mod command;
mod config;
mod database;
mod demo;
mod error;
mod logs;
mod output;

use std::process::ExitCode;

use clap::Parser;

use args::Cli;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    logs::start(&cli.command);
    match command::run(cli.command).await {
        Ok(code) => code,
        Err(error) => {
            output::say(&error.to_string());
            error.exit_code()
        }
    }
}
