//! The folder that holds one cluster: its data, log, configuration, socket and lock.
//!
//! ```text
//! owner.lock      locked by the process that uses the folder, and its process id; also the mark that the folder is ours
//! data/           the cluster
//! fairgate.conf   our settings, included by the cluster's own file
//! password        of the superuser `fairgate`, asked for over TCP only
//! server.log      of the last start
//! socket/         unless the path is too long for one
//! ```

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::account::Account;
use crate::{Error, Notice, lock, random, reach};

/// Longest folder (in bytes) in which a unix socket still fits the 104 bytes that every system allows.
const LONGEST_SOCKET_DIR: usize = 85;

/// A folder that we hold the lock of.
#[derive(Debug)]
pub(crate) struct Home {
    path: PathBuf,
    lock: File,
    ephemeral: bool,
}

impl Home {
    /// A new folder in the first temporary place that the account can enter; the supervisor removes it.
    pub(crate) fn ephemeral(account: &Account) -> Result<Home, Error> {
        let base = [std::env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/var/tmp")]
            .into_iter()
            .find(|dir| dir.is_absolute() && dir.as_os_str().len() < 50 && account.can_enter(dir))
            .ok_or_else(|| Error::NotOurs {
                path: PathBuf::from("/tmp"),
                why: format!("cannot be entered by {}, and neither can /var/tmp", account.name()),
            })?;
        let path = base.join(format!("fairgate-{}", random::hex(6)?));
        create(&path, account)?;
        Home::claim(path, true)
    }

    /// The folder `dir`, created if absent, or one under /var/tmp when the account cannot reach it.
    pub(crate) fn at(dir: &Path, account: &Account, notify: &dyn Fn(&Notice)) -> Result<Home, Error> {
        let asked = std::path::absolute(dir).map_err(Error::folder("find", dir))?;
        let path = if reach::can_be_home(&asked, account)? {
            asked
        } else {
            let used = reach::substitute(&asked);
            notify(&Notice::Moved { asked, used: used.clone(), account: account.name() });
            used
        };
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => create(&path, account)?,
            _ => check(&path, account)?,
        }
        Home::claim(path, false)
    }

    fn claim(path: PathBuf, ephemeral: bool) -> Result<Home, Error> {
        let lock = lock::take(&path)?;
        Ok(Home { path, lock, ephemeral })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn lock(&self) -> &File {
        &self.lock
    }

    pub(crate) fn is_ephemeral(&self) -> bool {
        self.ephemeral
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("server.log")
    }

    /// Creates a folder for the socket: inside, or a short one under /tmp when the path is too long.
    pub(crate) fn create_socket_dir(&self, account: &Account) -> Result<PathBuf, Error> {
        let inside = self.path.join("socket");
        let dir = if inside.as_os_str().len() <= LONGEST_SOCKET_DIR {
            inside
        } else {
            Path::new("/tmp").join(format!("{}{}", lock::SHORT_SOCKET_DIR, random::hex(6)?))
        };
        if !dir.exists() {
            create(&dir, account)?;
        }
        Ok(dir)
    }

    /// Writes a file of the folder that only the account and we can read.
    pub(crate) fn write(&self, name: &str, text: &str, account: &Account) -> Result<(), Error> {
        let path = self.path.join(name);
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&path).map_err(Error::folder("write", &path))?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(Error::folder("write", &path))?;
        account.take(&path)
    }
}

/// Creates a folder that belongs to the account and that nobody else can enter.
fn create(path: &Path, account: &Account) -> Result<(), Error> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(Error::folder("create", parent))?;
    }
    DirBuilder::new().mode(0o700).create(path).map_err(Error::folder("create", path))?;
    account.take(path)
}

/// Makes sure that an existing folder is an empty one of ours or one that this crate made for the account.
fn check(path: &Path, account: &Account) -> Result<(), Error> {
    let not_ours = |why: String| Err(Error::NotOurs { path: path.to_owned(), why });
    let mut entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return not_ours("is not a folder".to_owned());
        }
        Err(error) => return Err(Error::folder("read", path)(error)),
    };
    if lock::file(path).exists() {
        return match account.owns(path) {
            Ok(true) => Ok(()),
            Ok(false) => not_ours(format!("was made for another account than {}", account.name())),
            Err(error) => Err(Error::folder("read", path)(error)),
        };
    }
    match entries.next() {
        Some(_) => not_ours("holds files that are not a private PostgreSQL server's".to_owned()),
        None => {
            let private = fs::Permissions::from_mode(0o700);
            fs::set_permissions(path, private).map_err(Error::folder("change the mode of", path))?;
            account.take(path)
        }
    }
}
