//! From options to a running server.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use crate::account::Account;
use crate::binaries::{self, Binaries};
use crate::config::Config;
use crate::home::Home;
use crate::supervisor::{Stop, Supervisor};
use crate::{Error, LocalPg, Notice, lock, random};

/// The port in a socket's file name when nothing listens on TCP.
const SOCKET_PORT: u16 = 5432;
/// How often another free port is tried when somebody took the one just found.
const PORT_ATTEMPTS: u32 = 5;

/// Where the server listens besides its unix socket.
#[derive(Debug, Clone, Copy)]
enum Tcp {
    Off,
    Free,
    Fixed(u16),
}

/// Options of a private server; [`LocalPg::builder`] makes one.
pub struct Builder {
    dir: Option<PathBuf>,
    tcp: Tcp,
    config: Config,
    notify: Box<dyn Fn(&Notice) + Send + Sync>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Builder {
            dir: None,
            tcp: Tcp::Off,
            config: Config { durable: true, max_connections: 200, extra: Vec::new() },
            notify: Box::new(|notice| eprintln!("fairgate: {notice}")),
        }
    }

    /// Keeps the cluster in this folder, from one start to the next. It must be absent, empty, or made by this crate.
    /// A folder that the server's account cannot reach is replaced by one under /var/tmp ([`Notice::Moved`]).
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Uses a new folder that is removed when the server stops. This is the default.
    pub fn ephemeral(mut self) -> Self {
        self.dir = None;
        self
    }

    /// Whether committed work survives a crash of the machine (default: true). Without it the server is quicker,
    /// and only its own death, not the machine's, leaves sound data.
    pub fn durable(mut self, durable: bool) -> Self {
        self.config.durable = durable;
        self
    }

    /// How many connections the server accepts (default: 200).
    pub fn max_connections(mut self, connections: u32) -> Self {
        self.config.max_connections = connections;
        self
    }

    /// Any other setting of `postgresql.conf`; a later one of the same name wins.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.extra.push((name.into(), value.into()));
        self
    }

    /// Whether to listen on a free port of 127.0.0.1 too, with a random password (default: false). URLs then use it.
    pub fn tcp(mut self, tcp: bool) -> Self {
        self.tcp = if tcp { Tcp::Free } else { Tcp::Off };
        self
    }

    /// Listens on this port of 127.0.0.1, like [`Builder::tcp`].
    pub fn port(mut self, port: u16) -> Self {
        self.tcp = Tcp::Fixed(port);
        self
    }

    /// What to do with a [`Notice`] (default: print it on stderr).
    pub fn on_notice(mut self, notify: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.notify = Box::new(notify);
        self
    }

    /// Starts the server, creating its cluster first when there is none, and waits until it accepts connections.
    ///
    /// Blocks for about a second; in an async program, call it where blocking is allowed.
    pub fn start(self) -> Result<LocalPg, Error> {
        let account = Account::choose()?;
        let binaries = binaries::find(&account)?;
        let mut attempts = PORT_ATTEMPTS;
        loop {
            attempts -= 1;
            match self.start_once(&account, &binaries) {
                Err(Error::Start { tail, .. })
                    if matches!(self.tcp, Tcp::Free)
                        && attempts > 0
                        && tail.contains("Address already in use") => {}
                result => return result,
            }
        }
    }

    fn start_once(&self, account: &Account, binaries: &Binaries) -> Result<LocalPg, Error> {
        let port = self.choose_port()?;
        // Settings are checked before anything is created.
        self.config.render(Path::new("/"), SOCKET_PORT, false)?;
        let home = match &self.dir {
            Some(dir) => Home::at(dir, account, &*self.notify)?,
            None => Home::ephemeral(account)?,
        };
        check_version(&home, binaries)?;
        lock::clear_leftovers(&home.data(), &binaries.dir, account, &*self.notify)?;

        let socket_dir = home.create_socket_dir(account)?;
        let tcp = port.is_some();
        let port = port.unwrap_or(SOCKET_PORT);
        home.write("fairgate.conf", &self.config.render(&socket_dir, port, tcp)?, account)?;
        let password = password(&home, account)?;
        home.write("server.log", "", account)?;

        let (supervisor, server) = Supervisor::start(account, &binaries.dir, &home, &socket_dir)?;
        let Some(server_pid) = server else {
            let (log, tail) = (home.log(), tail(&home.log()));
            supervisor.stop(Stop::Immediate);
            return Err(Error::Start { log, tail });
        };
        Ok(LocalPg {
            supervisor: Some(supervisor),
            bin_dir: binaries.dir.clone(),
            socket_dir,
            port,
            password: tcp.then_some(password),
            server_pid,
            home,
        })
    }

    fn choose_port(&self) -> Result<Option<u16>, Error> {
        let wanted = match self.tcp {
            Tcp::Off => return Ok(None),
            Tcp::Free => 0,
            Tcp::Fixed(port) => port,
        };
        TcpListener::bind((Ipv4Addr::LOCALHOST, wanted))
            .and_then(|listener| listener.local_addr())
            .map(|address| Some(address.port()))
            .map_err(|source| Error::PortTaken { port: wanted, source })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("dir", &self.dir)
            .field("tcp", &self.tcp)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Refuses data of another major version, which the server would refuse less clearly.
fn check_version(home: &Home, binaries: &Binaries) -> Result<(), Error> {
    let path = home.data().join("PG_VERSION");
    match fs::read_to_string(&path) {
        Ok(data) if data.trim() == binaries.major.to_string() => Ok(()),
        Ok(data) => Err(Error::OtherVersion {
            path: home.path().to_owned(),
            data: data.trim().to_owned(),
            server: binaries.major,
            bin_dir: binaries.dir.clone(),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::folder("read", &path)(error)),
    }
}

/// The superuser's password: the one the cluster was created with, or a new one for a cluster to come.
fn password(home: &Home, account: &Account) -> Result<String, Error> {
    let path = home.path().join("password");
    if home.data().exists() {
        return fs::read_to_string(&path).map_err(Error::folder("read", &path));
    }
    let password = random::hex(16)?;
    home.write("password", &password, account)?;
    Ok(password)
}

/// The last lines of the log.
fn tail(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
