//! Databases, clocks and harnesses for the tests of fairgate.

mod db;
pub mod conformance;
mod signal;
pub mod torture;

pub use db::TestDb;
pub use signal::Signal;
