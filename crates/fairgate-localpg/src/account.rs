//! The account that runs the server: ourselves, or an unprivileged one when we are root.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Error;

/// Accounts that may run the server in root's place, best first.
const STAND_INS: [&str; 2] = ["postgres", "nobody"];

/// Who runs the server's programs and owns its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
    /// Set when the account is not the one we run as.
    stand_in: Option<String>,
}

impl Account {
    /// Ourselves, or the first stand-in of `/etc/passwd` when we are root.
    pub(crate) fn choose() -> Result<Account, Error> {
        let (uid, gid) = (own_id("-u")?, own_id("-g")?);
        if uid != 0 {
            return Ok(Account { uid, gid, stand_in: None });
        }
        let path = Path::new("/etc/passwd");
        let passwd = fs::read_to_string(path).map_err(Error::folder("read", path))?;
        STAND_INS.iter().find_map(|name| stand_in(&passwd, name)).ok_or(Error::NoAccount)
    }

    /// A command that runs as this account, from `/`, with no PostgreSQL setting of ours in its environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if self.stand_in.is_some() {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Whether this account can change into `dir`, found out by doing it.
    pub(crate) fn can_enter(&self, dir: &Path) -> bool {
        self.command("/bin/sh")
            .args(["-c", r#"cd -- "$1""#, "sh"])
            .arg(dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    /// Makes this account the owner of `path`.
    pub(crate) fn take(&self, path: &Path) -> Result<(), Error> {
        match self.stand_in {
            Some(_) => chown(path, Some(self.uid), Some(self.gid))
                .map_err(Error::folder("change the owner of", path)),
            None => Ok(()),
        }
    }

    /// Whether this account owns `path` itself (a symbolic link is not followed).
    pub(crate) fn owns(&self, path: &Path) -> io::Result<bool> {
        Ok(fs::symlink_metadata(path)?.uid() == self.uid)
    }

    /// The account's name for messages.
    pub(crate) fn name(&self) -> String {
        self.stand_in.clone().unwrap_or_else(|| format!("user id {}", self.uid))
    }
}

/// The user or group id of this process, from `id`.
fn own_id(flag: &str) -> Result<u32, Error> {
    let output = Command::new("id")
        .arg(flag)
        .output()
        .map_err(|source| Error::Spawn { program: "id".to_owned(), source })?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().map_err(|_| Error::Id(format!("{flag} printed {:?}", text.trim())))
}

/// The account of that name in the text of a passwd file; root under another name is none.
fn stand_in(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then_some(())?;
        let uid = fields.nth(1)?.parse().ok().filter(|uid| *uid != 0)?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account { uid, gid, stand_in: Some(name.to_owned()) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_read_from_its_own_line() {
        let passwd = "root:x:0:0::/root:/bin/sh\nmypostgres:x:7:7::/:\npostgres:x:101:104:PostgreSQL:/var/lib:/bin/sh\n";
        let account = stand_in(passwd, "postgres").expect("the line is there");
        assert_eq!((account.uid, account.gid), (101, 104));
    }

    #[test]
    fn a_missing_malformed_or_privileged_stand_in_is_none() {
        assert_eq!(stand_in("nobody:x:65534:65534:::\n", "postgres"), None);
        assert_eq!(stand_in("postgres:x\n", "postgres"), None);
        assert_eq!(stand_in("postgres:x:0:0:::\n", "postgres"), None);
    }
}
