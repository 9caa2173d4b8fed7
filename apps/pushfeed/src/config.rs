//! What the environment says, checked as a whole.

mod read;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use fairgate::budget::{Plan, Share};

use crate::github::live::Token;

pub use read::{NAMES, Problem};

/// All settings. Defaults are in the table of [`NAMES`].
#[derive(Debug, Clone)]
pub struct Config {
    /// Where requests go.
    pub mode: Mode,
    /// Of GitHub; it raises the limit, and makes a 304 free.
    pub token: Option<Token>,
    /// From the end of one poll to the next.
    pub cadence: Duration,
    /// Pages of one poll at most.
    pub pages: u32,
    /// Requests of a window that are never spent.
    pub reserve: u32,
    /// The actors' part of what enrichment may spend.
    pub actor_share: Share,
    /// How long after it was last seen an entity may be enriched for the first time.
    pub eligible_for: Duration,
    /// How long an actor's document is fresh.
    pub actor_ttl: Duration,
    /// How long a repository's document is fresh.
    pub repository_ttl: Duration,
    /// Over how long the coverage is computed.
    pub coverage_over: Duration,
    /// To open a connection.
    pub open_within: Duration,
    /// To read an answer.
    pub read_within: Duration,
    /// More attempts after a failure.
    pub retries: u32,
    /// Redirects that are followed.
    pub redirects: u32,
    /// How long a one-shot waits for the source.
    pub source_wait: Duration,
    /// How long a request waits for another one that is on its way.
    pub gate_wait: Duration,
    /// What is logged.
    pub log: String,
    /// Where the data is.
    pub database_url: String,
    /// Entities that one search asks for at most; zero: nothing is searched.
    pub search_batch: u32,
    /// Where the pages are served.
    pub bind: SocketAddr,
    /// The budget's division.
    pub plan: Plan,
    /// The search budget's division.
    pub search_plan: Plan,
}

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// To GitHub, or to an address that plays it.
    Live {
        /// On this machine, over plain HTTP.
        instead: Option<SocketAddr>,
    },
    /// To files.
    Fixture {
        /// Which of them.
        scenario: String,
        /// Those in a folder, instead of those that are compiled in.
        folder: Option<PathBuf>,
    },
}

impl Config {
    /// Reads all settings through `get`, which knows the environment.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, Vec<Problem>> {
        read::read(&get)
    }

    /// How long a document of this kind is fresh.
    #[must_use]
    pub fn ttl(&self, kind: crate::enrich::Kind) -> Duration {
        match kind {
            crate::enrich::Kind::Actor => self.actor_ttl,
            crate::enrich::Kind::Repository => self.repository_ttl,
        }
    }

    /// How long a lease must last: all attempts of one request, each behind a gate that was waited for.
    #[must_use]
    pub fn lease(&self) -> Duration {
        let attempts = 1 + self.retries + self.redirects;
        (self.gate_wait + self.open_within + self.read_within) * attempts + Duration::from_secs(30)
    }
}
