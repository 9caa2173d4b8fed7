//! Questions about other processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether the process runs; one that has ended and only waits to be collected does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    if Path::new("/proc/self/stat").exists() {
        return fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
            stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z'))
        });
    }
    Command::new("/bin/sh")
        .args(["-c", r#"kill -0 "$1""#, "sh", &pid.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The process's command line, or nothing when it is gone or cannot be seen.
pub(crate) fn command_line(pid: u32) -> String {
    if let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) {
        return String::from_utf8_lossy(&line).replace('\0', " ");
    }
    Command::new("ps")
        .args(["-p", &pid.to_string(), "-o", "args="])
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default()
}
