//! A process that owns a server and can be killed: this test binary, run again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io, thread};

use fairgate_localpg::LocalPg;

/// Set in the child: the folder of its server, or nothing for an ephemeral one.
const FOLDER: &str = "FAIRGATE_TEST_OWNER_FOLDER";

pub(crate) struct Owner {
    child: Child,
    pub(crate) server: u32,
    supervisor: u32,
    pub(crate) dir: PathBuf,
}

impl Owner {
    /// Starts the child and waits until its server runs.
    pub(crate) fn start(dir: Option<&Path>) -> Owner {
        let mut child = Command::new(env::current_exe().expect("the test binary has a path"))
            .args(["--exact", "owner::owns_a_server_until_killed", "--ignored", "--nocapture"])
            .env(FOLDER, dir.unwrap_or(Path::new("")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test binary runs");
        let output = child.stdout.take().expect("piped");
        let line = BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .find(|line| line.starts_with("owner: "))
            .expect("the child says where its server is");
        let words: Vec<&str> = line.split_whitespace().collect();
        let pid = |word: &str| word.parse().expect("a process id");
        Owner { child, server: pid(words[1]), supervisor: pid(words[2]), dir: words[3].into() }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
    }

    /// Kills the child and the shell that would have cleaned up after it.
    pub(crate) fn kill_with_supervisor(self) {
        let killed = Command::new("/bin/sh")
            .args(["-c", r#"kill -9 "$1""#, "sh", &self.supervisor.to_string()])
            .status()
            .expect("sh runs");
        assert!(killed.success());
        self.kill();
    }
}

/// Whether the process runs and is no mere entry waiting to be collected.
pub(crate) fn server_runs(pid: u32) -> bool {
    if Path::new("/proc/self/stat").exists() {
        return fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    }
    let state = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().expect("ps runs");
    let state = String::from_utf8_lossy(&state.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// Asks again and again, up to a deadline.
pub(crate) fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "not within a minute: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "the other tests run it as a process of its own, and kill it"]
fn owns_a_server_until_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let builder = LocalPg::builder().durable(false);
    let builder = if folder.is_empty() { builder } else { builder.dir(folder) };
    let server = builder.start().expect("starts");
    println!("\nowner: {} {} {}", server.server_pid(), server.supervisor_pid(), server.dir().display());
    // Ends when the test that started it does, however that goes.
    let _ = io::stdin().lines().next();
}
