//! `with-postgres`: one server for a whole run of tests.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};

use fairgate_localpg::{Error, LocalPg};

use crate::fail;

/// The URL that the tests connect to.
const VARIABLE: &str = "FAIRGATE_TEST_DATABASE_URL";
/// Room for the heaviest test beside its neighbours.
const CONNECTIONS: u32 = 300;

/// Runs the command after `--` and returns its exit code.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let Some((durable, command)) = parse(arguments) else {
        return fail("usage: with-postgres [--durable] -- CMD...");
    };
    if std::env::var_os(VARIABLE).is_some_and(|url| !url.is_empty()) {
        return exit_code(Command::new(command[0]).args(&command[1..]).status(), command[0]);
    }
    match start(durable) {
        Err(error) => fail(error),
        Ok(server) => {
            let status =
                Command::new(command[0]).args(&command[1..]).env(VARIABLE, server.url("postgres")).status();
            let code = exit_code(status, command[0]);
            server.stop().map_or_else(fail, |()| code)
        }
    }
}

/// Prints the folder of the server's programs.
pub(crate) fn find() -> ExitCode {
    match fairgate_localpg::find_server() {
        Ok(dir) => {
            println!("{}", dir.display());
            ExitCode::SUCCESS
        }
        Err(error) => fail(error),
    }
}

fn start(durable: bool) -> Result<LocalPg, Error> {
    LocalPg::builder().ephemeral().durable(durable).max_connections(CONNECTIONS).start()
}

/// Whether to be durable, and the command, which is not empty.
fn parse<'a>(arguments: &'a [&'a str]) -> Option<(bool, &'a [&'a str])> {
    let (durable, rest) = match arguments {
        ["--durable", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    match rest {
        ["--", command @ ..] if !command.is_empty() => Some((durable, command)),
        _ => None,
    }
}

/// As a shell reports it: the command's own code, or 128 and the signal that ended it.
fn exit_code(status: std::io::Result<ExitStatus>, program: &str) -> ExitCode {
    match status {
        Err(error) => fail(format_args!("cannot run {program}: {error}")),
        Ok(status) => {
            let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
            ExitCode::from(u8::try_from(code).unwrap_or(1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_follows_two_dashes() {
        assert_eq!(parse(&["--", "cargo", "test"]), Some((false, ["cargo", "test"].as_slice())));
        assert_eq!(parse(&["--durable", "--", "--durable"]), Some((true, ["--durable"].as_slice())));
        assert_eq!(parse(&["cargo", "test"]), None);
        assert_eq!(parse(&["--durable", "--"]), None);
    }
}
