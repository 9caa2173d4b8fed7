//! A helper process of the torture test: a ticker or a worker that can be killed.

use std::process::ExitCode;

fn main() -> ExitCode {
    fairgate_testkit::torture::act()
}
