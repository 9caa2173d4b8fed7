//! What can go wrong with a private server, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why a private server could not be started or stopped.
///
/// Every message says what is wrong, where, and what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No usable set of server programs is installed.
    #[error(
        "no PostgreSQL server (the programs initdb, pg_ctl and postgres, version {oldest} or newer) was found{refused}\n\
         Install one: `make` does it on Debian and Ubuntu (apt-get install postgresql); on Fedora: \
         dnf install postgresql-server; on macOS: brew install postgresql@17.\n\
         Or set FAIRGATE_PG_BIN to the folder that holds these programs."
    )]
    NoServer {
        /// The oldest major version that is accepted.
        oldest: u32,
        /// One line for each place that held something unusable; empty when there was none.
        refused: String,
    },

    /// PostgreSQL refuses to run as root and there is no other account to run it.
    #[error(
        "PostgreSQL does not run as root, and /etc/passwd has neither an account `postgres` nor `nobody` to run it: \
         create one (useradd --system postgres) or start this as an ordinary user"
    )]
    NoAccount,

    /// The id of the current user could not be found out.
    #[error("cannot find out who runs this: `id` {0}; check that `id -u` and `id -g` work in a shell")]
    Id(String),

    /// A file operation failed.
    #[error("cannot {action} {}: {source}; check who owns it, or choose another folder", path.display())]
    Folder {
        /// What was attempted, as a verb: "create", "lock", ...
        action: &'static str,
        /// The file or folder concerned.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// The folder holds something that this crate did not put there.
    #[error("{} {why}; it was left alone: choose another folder, or remove it yourself", path.display())]
    NotOurs {
        /// The folder that was asked for.
        path: PathBuf,
        /// What makes it unusable, as the end of a sentence.
        why: String,
    },

    /// Another live process uses the folder.
    #[error(
        "{} is in use by {}; stop that one first, or choose another folder",
        path.display(),
        owner.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
    )]
    InUse {
        /// The folder that was asked for.
        path: PathBuf,
        /// The process that holds it, when it said so.
        owner: Option<u32>,
    },

    /// The data was written by another major version of PostgreSQL.
    #[error(
        "{} holds data of PostgreSQL {data}, but the server found is version {server} (in {}); \
         set FAIRGATE_PG_BIN to the programs of version {data}, or remove the folder to start afresh",
        path.display(),
        bin_dir.display()
    )]
    OtherVersion {
        /// The folder that was asked for.
        path: PathBuf,
        /// Major version that wrote the data.
        data: String,
        /// Major version of the programs found.
        server: u32,
        /// Where those programs are.
        bin_dir: PathBuf,
    },

    /// The TCP port that was asked for cannot be had.
    #[error(
        "port {port} on 127.0.0.1 cannot be used: {source}; stop what listens there, or choose another port"
    )]
    PortTaken {
        /// The port that was asked for.
        port: u16,
        /// The system's answer.
        source: io::Error,
    },

    /// A setting's name or value cannot stand in a configuration file.
    #[error(
        "`{name}` is not a setting that can be written: names are letters, digits, `_` and `.`, values are one line"
    )]
    Setting {
        /// The name as given.
        name: String,
    },

    /// A program could not be run.
    #[error("cannot run {program}: {source}")]
    Spawn {
        /// The program concerned.
        program: String,
        /// The system's answer.
        source: io::Error,
    },

    /// The server did not come up.
    #[error("the PostgreSQL server did not start; the end of its log ({}) says:\n{tail}", log.display())]
    Start {
        /// The log, which is gone by now when the server was an ephemeral one.
        log: PathBuf,
        /// Its last lines.
        tail: String,
    },

    /// The server did not stop within its time.
    #[error("the PostgreSQL server in {} did not stop; stop it with: pg_ctl stop -m immediate -D {}", data.display(), data.display())]
    Stop {
        /// The data folder.
        data: PathBuf,
    },
}

impl Error {
    /// Wraps a failed file operation; use with `map_err`.
    pub(crate) fn folder(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Folder { action, path: path.to_owned(), source }
    }
}
