//! GitHub's public push events in PostgreSQL, and who and what they mention, within a request budget that is shared fairly.
//!
//! The flow of a poll: [`schedule`] -> [`fetch`](mod@fetch) -> [`ingest`]; of an enrichment: [`enrich`] -> [`fetch`](mod@fetch). Every request goes gate, debit,
//! send, reconcile ([`fairgate::budget`]), with no transaction open. The service stages both as jobs, which fairgate admits into a real queue ([`service`]).

pub mod app;
pub mod cli;
pub mod command;
pub mod config;
pub mod enrich;
pub mod error;
pub mod fetch;
pub mod github;
pub mod ingest;
pub mod json;
pub mod log;
pub mod plan;
pub mod schedule;
pub mod service;
pub mod setup;
pub mod status;
pub mod web;

pub use app::App;
pub use config::Config;
pub use error::FeedError;
