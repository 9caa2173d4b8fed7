//! The shell process that runs the server and outlives us just long enough to clean up.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};

use crate::Error;
use crate::account::Account;
use crate::home::Home;

/// What it does; its head comment states the protocol.
const SCRIPT: &str = include_str!("supervise.sh");

/// How the server is stopped.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stop {
    /// Checkpoint first, so that the next start needs no recovery.
    Fast,
    /// At once; for data that is thrown away.
    Immediate,
}

/// A running supervisor. It stops the server when told to, or when the pipe to it closes because we are gone.
#[derive(Debug)]
pub(crate) struct Supervisor {
    child: Child,
    orders: ChildStdin,
}

impl Supervisor {
    /// Creates the cluster if need be and starts the server; returns the server's process id, or `None` when it
    /// did not start (the log says why; the supervisor still waits to be told to clean up).
    pub(crate) fn start(
        account: &Account,
        bin: &Path,
        home: &Home,
        socket: &Path,
    ) -> Result<(Self, Option<u32>), Error> {
        let spawn_error = |source| Error::Spawn { program: "/bin/sh".to_owned(), source };
        // The lock is held until both we and the supervisor are gone, so nobody starts beside its clean-up.
        let lock: File = home.lock().try_clone().map_err(spawn_error)?;
        let mut child = account
            .command("/bin/sh")
            .args(["-c", SCRIPT, "fairgate-postgres"])
            .args([bin, home.path(), socket])
            .arg(if home.is_ephemeral() { "remove" } else { "keep" })
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(lock))
            .spawn()
            .map_err(spawn_error)?;
        let orders = child.stdin.take().expect("stdin was piped two lines up");
        let answers = child.stdout.take().expect("stdout was piped two lines up");
        let mut answer = String::new();
        // An unreadable answer means the same as a failed start.
        let _ = BufReader::new(answers).read_line(&mut answer);
        let server = answer.strip_prefix("started ").and_then(|pid| pid.trim().parse().ok());
        Ok((Supervisor { child, orders }, server))
    }

    /// The shell's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops the server, removes what is to be thrown away, and waits for both. False when the server did not stop.
    pub(crate) fn stop(mut self, stop: Stop) -> bool {
        let mode = match stop {
            Stop::Fast => "fast",
            Stop::Immediate => "immediate",
        };
        // A failed write means that the supervisor is gone, which its exit status tells better.
        let _ = writeln!(self.orders, "{mode}");
        drop(self.orders);
        self.child.wait().is_ok_and(|status| status.success())
    }
}
