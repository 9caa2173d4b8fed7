//! The log, on stderr.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::args::Command;

/// Says what a command logs unless RUST_LOG says otherwise: a daemon says what it does, the others only what is wrong.
pub(crate) fn start(command: &Command) {
    let default = match command {
        Command::Run(_) => "info,sqlx=warn,graphile_worker=warn",
        _ => "warn",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .init();
}
