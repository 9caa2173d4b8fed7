//! Arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::config::NAMES;
use crate::enrich::Kind;

/// Keeps GitHub's public push events, and fills in who and what they mention, within a request budget.
///
/// Settings come from the environment; `--help` and `.env.example` list them.
#[derive(Debug, Parser)]
#[command(name = "pushfeed", version, after_long_help = settings())]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

fn settings() -> String {
    NAMES.iter().fold("Environment:".to_owned(), |text, (name, default, meaning)| {
        let default = if default.is_empty() { String::new() } else { format!(" [default: {default}]") };
        format!("{text}\n  {name}{default}\n          {meaning}")
    })
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Poll the feed once, if that is due; or read files of GH Archive
    Ingest(IngestArgs),
    /// Fetch the documents of actors and repositories
    Enrich(EnrichArgs),
    /// Poll, enrich and serve pages until stopped
    Run,
    /// Say how things are
    Status(StatusArgs),
    /// Bring the database up to date
    Migrate,
}

/// Of `ingest`.
#[derive(Debug, Args)]
pub struct IngestArgs {
    /// Do not wait for our own rhythm, and ask as if nothing were known; everything else is respected
    #[arg(long, conflicts_with = "files")]
    pub force: bool,
    /// Where events come from
    #[arg(long, value_enum, default_value_t = SourceKind::Feed, value_name = "SOURCE")]
    pub source: SourceKind,
    /// Files of GH Archive (.json.gz); with `--source gharchive`
    #[arg(value_name = "FILE", required_if_eq("source", "gharchive"))]
    pub files: Vec<PathBuf>,
}

/// Where events come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SourceKind {
    /// GitHub's public feed
    Feed,
    /// Files, one event a line; nothing is asked of GitHub
    Gharchive,
}

/// Of `enrich`.
#[derive(Debug, Args)]
pub struct EnrichArgs {
    /// How many to try, one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Only these
    #[arg(long, value_name = "CLASS")]
    pub class: Option<Kind>,
}

/// Of `status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// One JSON document
    #[arg(long)]
    pub json: bool,
}
