//! For the tests of programs that use fairgate: ticks by hand, a fake clock, and a queue without workers.
//!
//! What a test needs is a PostgreSQL database of its own and nothing else. Ticks are [`Ticker::tick_once`](crate::Ticker::tick_once), sweeps
//! [`Ticker::sweep_once`](crate::Ticker::sweep_once); both take a [`FakeClock`]. A [`TableQueue`] stands where your queue stands. `docs/testing.md` shows a
//! whole test. All of it is always compiled in: it is small, needs no other crate, and does nothing unless it is called.

mod adapter;
mod clock;
mod job;
mod table_queue;

pub use clock::FakeClock;
pub use job::{JobState, TestJob};
pub use table_queue::{TableQueue, TableQueueError};
