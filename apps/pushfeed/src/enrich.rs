//! Enrichment: who and what events mention, fetched one at a time within the budget.

pub mod choose;
pub mod cycle;
pub mod document;
pub mod pool;
pub mod search;
pub mod summary;

pub use cycle::{Cycle, enrich};

/// What is enriched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Who pushed.
    Actor,
    /// Where to.
    Repository,
}

impl Kind {
    /// Both, actors first.
    pub const ALL: [Self; 2] = [Self::Actor, Self::Repository];

    /// Its code, which never changes.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Actor => "actor",
            Self::Repository => "repository",
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Actor => Self::Repository,
            Self::Repository => Self::Actor,
        }
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Self::Actor => 0,
            Self::Repository => 1,
        }
    }
}
