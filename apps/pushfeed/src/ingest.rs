//! Polling: pages of events, what they bring, and the record of it.

pub mod archive;
pub mod event;
pub mod page;
pub mod poll;
pub mod run;
pub mod source;
mod write;

pub use page::Counts;
pub use poll::{Polled, poll};
