//! Request budgets of rate-limited APIs, shared by any number of processes: **reserve -> request -> reconcile**.
//!
//! A [`Budget`] is a [`Plan`] and one locked row. [`Budget::reserve`] debits it and commits; the [`Reservation`] that it hands out is what
//! [`request()`] takes, by value, and nothing else opens a [`Transport`]. A reservation that is dropped stays spent, as is one whose process was killed.
//! [`Budget::reconcile`] folds the answer in. What may be spent is decided in [`fairgate_core::budget`], which has the formulas.
//! Where a server has several budgets for one caller, [`Budget::reconcile_beside`] shares its pauses among them.
//!
//! ```no_run
//! # async fn example(conn: &mut sqlx::PgConnection, plan: fairgate::budget::Plan, door: impl fairgate::budget::Transport<Request = String>) -> Result<(), Box<dyn std::error::Error>> {
//! use fairgate::budget::{Answer, Ask, Borrow, Budget, Reserved, Verdict, request};
//!
//! let budget = Budget::new("github", plan)?;
//! let lane = budget.plan().lane("poll", None).expect("a class of the plan");
//! let ask = Ask::new(budget.plan(), lane, Borrow::No)?;
//! match budget.reserve(conn, ask, None).await? {
//!     Reserved::Granted(reservation) => {
//!         let sent = request(reservation, &door, "/events".to_owned()).await;
//!         let verdict = if sent.result.is_ok() { Verdict::Clean } else { Verdict::Unrelated };
//!         budget.reconcile(conn, sent.spent, &Answer { headers: None, verdict }, None).await?;
//!     }
//!     Reserved::Denied(denial) => println!("{} until {:?}", denial.reason.code(), denial.until),
//! }
//! # Ok(()) }
//! ```

mod ledger_row;
mod request;
mod reserve;

pub use fairgate_core::budget::{
    Allowance, Answer, Ask, AskError, Block, BlockReason, Borrow, Change, Class, Denial, DenialReason, Lane,
    Ledger, LimitHeaders, Member, Plan, PlanError, Share, ShareError, Verdict, Windows, decide, reconcile,
    reconcile_beside, retry_after,
};
pub use request::{Permit, Sent, Spent, Transport, request};
pub use reserve::{Budget, NameError, Reservation, ReserveError, Reserved};
