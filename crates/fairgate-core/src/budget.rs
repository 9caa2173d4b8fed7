//! A request budget that several classes of work share: pure decisions about one row of state.
//!
//! An API allows `limit` requests per window. A [`Plan`] keeps back a `reserve`, gives each class its allowance, and may divide a class
//! among members by exact fractions. With all numbers in requests per window:
//!
//! ```text
//! fixed class     allowance = what the plan says
//! rest class      allowance = limit - reserve - sum(fixed)                      never below zero
//! member          guarantee = floor(allowance * share); the last member has the rest
//! spent           sum over everything <= limit - reserve
//! ```
//!
//! The flow is **reserve -> request -> reconcile**. [`decide()`] says whether one request may go and what the ledger is afterwards; the debit is
//! written before the request is sent, and stays. [`reconcile()`] folds the answer in: it believes what the server proved and nothing else.
//!
//! A member that has used its guarantee may borrow what others of its class leave, when the caller says that none of them has work now:
//! `guarantee + unused of the others = allowance - used by the others`, so only the class's allowance binds then.

mod class;
mod decide;
mod reconcile;
mod retry_after;
mod share;
mod window;

pub use class::{Allowance, Class, Lane, Member, Plan, PlanError, Windows};
pub use decide::{Ask, AskError, Borrow, Debit, Denial, DenialReason, decide};
pub use reconcile::{Answer, LimitHeaders, Reconciled, Verdict, reconcile, reconcile_beside};
pub use retry_after::retry_after;
pub use share::{Share, ShareError};
pub use window::{Block, BlockReason, Change, Ledger, Receipt, Window};

use std::time::Duration;

/// Resets this near to each other are one window: servers round.
pub const SAME_WINDOW: Duration = Duration::from_secs(5);
/// A window is over this long after its reset, and so is a block for its sake.
pub const AFTER_RESET: Duration = Duration::from_secs(1);
/// The shortest and the longest block after a secondary limit; the first one without a time of the server's lasts the shortest.
pub const SECONDARY_BLOCK: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));
