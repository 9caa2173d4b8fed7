//! Things worth a line on stderr that are no errors.

use std::fmt;
use std::path::PathBuf;

/// Something that a start did besides starting, and that its user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The server's account cannot enter the folder asked for, so the data is kept elsewhere.
    Moved {
        /// The folder asked for.
        asked: PathBuf,
        /// The folder in use instead.
        used: PathBuf,
        /// The account that runs the server.
        account: String,
    },
    /// A server that a killed process left behind was stopped.
    StoppedLeftover {
        /// Its folder.
        path: PathBuf,
        /// Its process.
        pid: u32,
    },
    /// The last server here did not shut down; PostgreSQL recovers its data from its log.
    Recovering {
        /// Its folder.
        path: PathBuf,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Moved { asked, used, account } => write!(
                f,
                "account `{account}`, which runs PostgreSQL here, cannot enter {}: its data is in {} instead",
                asked.display(),
                used.display()
            ),
            Notice::StoppedLeftover { path, pid } => write!(
                f,
                "stopped the PostgreSQL server (process {pid}) that an earlier, killed run left in {}",
                path.display()
            ),
            Notice::Recovering { path } => write!(
                f,
                "the last PostgreSQL server in {} was not shut down; recovering its data",
                path.display()
            ),
        }
    }
}
