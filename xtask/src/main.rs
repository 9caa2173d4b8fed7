//! What the project does around cargo: a database for the tests, and the checks that cargo does not make.
//!
//! `cargo run -p xtask -- help` lists the commands.

mod check;
mod with_postgres;

use std::process::ExitCode;

const HELP: &str = "\
usage: cargo run -p xtask -- COMMAND

  with-postgres [--durable] -- CMD...  run CMD with FAIRGATE_TEST_DATABASE_URL set to a private PostgreSQL server
                                       (or to the one it names already), and exit as CMD does
  check                                check the house rules: file sizes, a pure core, arrows between crates, words,
                                       numbered decisions, links
  find-postgres                        print where the PostgreSQL server's programs are, or what to install
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["with-postgres", rest @ ..] => with_postgres::run(rest),
        ["check"] => check::run(),
        ["find-postgres"] => with_postgres::find(),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{HELP}");
            ExitCode::from(2)
        }
    }
}

/// Reports a failed command on stderr.
fn fail(message: impl std::fmt::Display) -> ExitCode {
    eprintln!("xtask: {message}");
    ExitCode::FAILURE
}
