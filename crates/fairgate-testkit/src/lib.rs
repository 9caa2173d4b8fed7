//! Databases, clocks and harnesses for the tests of fairgate.

pub mod conformance;
mod db;
mod signal;
pub mod torture;

pub use db::TestDb;
pub use signal::Signal;
