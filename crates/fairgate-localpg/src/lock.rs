//! Who uses a home folder, and what an owner that was killed left in it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::account::Account;
use crate::{Error, Notice, process};

/// How the names of socket folders outside the home folder start.
pub(crate) const SHORT_SOCKET_DIR: &str = "fairgate-socket-";
/// How long the supervisor of an owner that was killed may take to clean up.
const CLEAN_UP: Duration = Duration::from_secs(30);

/// The lock file of a home folder.
pub(crate) fn file(home: &Path) -> PathBuf {
    home.join("owner.lock")
}

/// Takes the lock, and waits for it only while a supervisor cleans up after an owner that is gone.
pub(crate) fn take(home: &Path) -> Result<File, Error> {
    let path = file(home);
    let mut lock = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(Error::folder("open", &path))?;
    let deadline = Instant::now() + CLEAN_UP;
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(Error::folder("lock", &path)(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let owner = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        if owner.is_some_and(process::is_alive) || Instant::now() > deadline {
            return Err(Error::InUse { path: home.to_owned(), owner });
        }
        thread::sleep(Duration::from_millis(20));
    }
    lock.set_len(0)
        .and_then(|()| lock.rewind())
        .and_then(|()| writeln!(lock, "{}", std::process::id()))
        .map_err(Error::folder("write", &path))?;
    Ok(lock)
}

/// Stops a server that still runs in `data` although its owner is gone (the caller holds the lock), and clears away
/// what a server that crashed left there.
pub(crate) fn clear_leftovers(
    data: &Path,
    bin: &Path,
    account: &Account,
    notify: &dyn Fn(&Notice),
) -> Result<(), Error> {
    let pid_file = data.join("postmaster.pid");
    let Ok(text) = fs::read_to_string(&pid_file) else { return Ok(()) };
    let path = data.parent().unwrap_or(data).to_owned();
    let left = Leftover::read(&text);
    match left.server {
        // The command line tells the server from a process that got its number later.
        Some(pid) if process::is_alive(pid) && process::command_line(pid).contains(left.data) => {
            let status = account
                .command(bin.join("pg_ctl"))
                .args(["stop", "-s", "-m", "fast", "-w", "-t", "60", "-D"])
                .arg(data)
                .status()
                .map_err(|source| Error::Spawn { program: "pg_ctl".to_owned(), source })?;
            if !status.success() {
                return Err(Error::Stop { data: data.to_owned() });
            }
            notify(&Notice::StoppedLeftover { path, pid });
        }
        _ => {
            fs::remove_file(&pid_file).map_err(Error::folder("remove", &pid_file))?;
            notify(&Notice::Recovering { path });
        }
    }
    let is_short =
        left.socket.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SHORT_SOCKET_DIR));
    if is_short && account.owns(left.socket).unwrap_or(false) {
        // Left over or not, an empty folder in /tmp hinders nobody.
        let _ = fs::remove_dir_all(left.socket);
    }
    Ok(())
}

/// What a `postmaster.pid` says: process, data folder, start time, port, socket folder, one a line.
struct Leftover<'a> {
    server: Option<u32>,
    data: &'a str,
    socket: &'a Path,
}

impl<'a> Leftover<'a> {
    fn read(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let line = |index: usize| lines.get(index).copied().unwrap_or_default().trim();
        // An empty data line would be found in every command line.
        let server = line(0).parse().ok().filter(|_| !line(1).is_empty());
        Leftover { server, data: line(1), socket: Path::new(line(4)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_is_read_line_by_line() {
        let left =
            Leftover::read("4711\n/x/data\n1700000000\n5432\n/tmp/fairgate-socket-1\n\n  5432001\nready\n");
        assert_eq!((left.server, left.data), (Some(4711), "/x/data"));
        assert_eq!(left.socket, Path::new("/tmp/fairgate-socket-1"));
    }

    #[test]
    fn a_truncated_pid_file_names_no_server() {
        assert_eq!(Leftover::read("").server, None);
        assert_eq!(Leftover::read("4711\n").server, None);
    }
}
