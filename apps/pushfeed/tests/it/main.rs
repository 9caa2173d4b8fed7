//! What pushfeed promises, statement by statement, against a real PostgreSQL.
#![allow(clippy::unwrap_used)]

mod archive;
mod commands;
mod config;
mod enrichment;
mod events;
mod ledger;
mod live;
mod logs;
mod mock;
mod plans;
mod polling;
mod recorded;
mod recovery;
mod search;
mod service;
mod support;
mod urls;
mod web;
