//! A private PostgreSQL server on this machine, for the demo and the tests.
//!
//! It runs from installed programs, under an unprivileged account when we are root, and listens on a unix socket that
//! only that account and root can reach (and on 127.0.0.1 with a password, when asked). It lives as long as its
//! [`LocalPg`]: a supervising shell stops it when the value is dropped, and also when this process ends in any other
//! way, be it Ctrl-C or `kill -9`. The server has a process session of its own, so Ctrl-C in a terminal reaches us,
//! not it.
//!
//! ```no_run
//! let server = fairgate_localpg::LocalPg::builder().durable(false).start()?;
//! println!("psql '{}'", server.url("postgres"));
//! server.stop()?;
//! # Ok::<(), fairgate_localpg::Error>(())
//! ```

#[cfg(not(unix))]
compile_error!("fairgate-localpg runs on Unix only: it needs unix sockets and /bin/sh");

mod account;
mod binaries;
mod builder;
mod config;
mod error;
mod home;
mod lock;
mod notice;
mod process;
mod random;
mod reach;
mod supervisor;
mod url;

use std::path::{Path, PathBuf};

pub use binaries::find_server;
pub use builder::Builder;
pub use error::Error;
pub use notice::Notice;

use home::Home;
use supervisor::{Stop, Supervisor};
use url::Address;

/// A running private server, stopped on drop.
#[derive(Debug)]
pub struct LocalPg {
    supervisor: Option<Supervisor>,
    bin_dir: PathBuf,
    socket_dir: PathBuf,
    port: u16,
    /// Set when the server listens on TCP.
    password: Option<String>,
    server_pid: u32,
    home: Home,
}

impl LocalPg {
    /// Options for a server: by default ephemeral, durable and on a unix socket only.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// The URL of a database of this server (one named `postgres` exists), as superuser `fairgate`.
    /// sqlx, libpq and the usual drivers of other languages accept its form.
    pub fn url(&self, database: &str) -> String {
        let address = match &self.password {
            Some(password) => Address::Tcp { port: self.port, password },
            None => Address::Socket { dir: &self.socket_dir, port: self.port },
        };
        url::url(&address, database)
    }

    /// The folder of the server's programs.
    pub fn bin_dir(&self) -> &Path {
        &self.bin_dir
    }

    /// The folder of the unix socket, short enough for one.
    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// The folder of the cluster: its data, configuration and log.
    pub fn dir(&self) -> &Path {
        self.home.path()
    }

    /// The server's log.
    pub fn log(&self) -> PathBuf {
        self.home.log()
    }

    /// The process id of the server.
    pub fn server_pid(&self) -> u32 {
        self.server_pid
    }

    /// The process id of the shell that stops the server once this process is gone.
    pub fn supervisor_pid(&self) -> u32 {
        self.supervisor.as_ref().map_or(0, Supervisor::pid)
    }

    /// Stops the server, waits for it, and removes its folder if it is ephemeral.
    pub fn stop(mut self) -> Result<(), Error> {
        if self.shut_down() { Ok(()) } else { Err(Error::Stop { data: self.home.data() }) }
    }

    fn shut_down(&mut self) -> bool {
        let stop = if self.home.is_ephemeral() { Stop::Immediate } else { Stop::Fast };
        self.supervisor.take().is_none_or(|supervisor| supervisor.stop(stop))
    }
}

impl Drop for LocalPg {
    fn drop(&mut self) {
        self.shut_down();
    }
}
