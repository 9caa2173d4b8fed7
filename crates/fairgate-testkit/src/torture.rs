//! The torture of the engine: tickers, workers and stagers work while sessions are ended, processes are killed and frozen, limits change and
//! partitions vanish; then everything must come to rest, and every promise must have been kept.
//!
//! - **Who works**: four ticker processes, eight processes of the `graphile_worker` crate's own worker, eight stagers, two sessions that beat
//!   while finishers wait, an operator, an auditor, and a janitor that frees what dead workers had locked, by the queue's own function.
//! - **Who disturbs**: [`Havoc`]. Only our own child processes are killed, frozen or thawed.
//! - **Who watches**: triggers in schema `torture` look at every admission in its own transaction, in SQL of their own; stagers write down what
//!   they committed in the same transaction; the rest is read when all is over. See [`Fault`] for what can be found.
//! - **Who is watched over**: [`Sabotage`] plants a fault that must be found, and [`script`] plays single interleavings move by move.

mod cast;
mod chaos;
mod companions;
mod complaints;
mod drain;
mod plan;
mod policies;
mod random;
mod role;
mod run;
pub mod script;
mod stager;
mod ticker;
mod verdict;
mod windows;
mod worker;

pub use chaos::Havoc;
pub use complaints::{Fault, Problem};
pub use plan::{Plan, Sabotage};
pub use role::act;
pub use run::{Outcome, torture};
pub use verdict::Tally;
