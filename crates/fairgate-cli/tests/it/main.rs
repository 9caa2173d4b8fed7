//! The `fairgate` binary as its users meet it: arguments in, exit code, stdout and stderr out.

#![allow(clippy::unwrap_used)]

mod apply;
mod cancel;
mod check;
mod database;
mod demo;
mod demo_queues;
mod doctor;
mod explain;
mod force;
mod help;
mod init;
mod migrate;
mod ndjson;
mod operate;
mod overrides;
mod quarantine;
mod read;
mod run;
mod stage;
mod support;
mod uninstall;
