//! The admin pages of fairgate: who waits, why, for how long, and what to do about it. Server-rendered, with the same data as JSON under `/api/v1` and
//! as Prometheus text under `/metrics`.
//!
//! [`Admin::router`] is an axum router. Nest it where you like; links follow where it is:
//!
//! ```no_run
//! # fn example(pool: sqlx::PgPool) -> axum::Router {
//! use fairgate_admin::{Access, Admin};
//!
//! let admin = Admin::new(pool).access(Access::password("correct horse"));
//! axum::Router::new().nest("/fairgate", admin.router())
//! # }
//! ```
//!
//! Each page is a file in `page/`, each operation one in `action/`. What they show and do is in [`fairgate`]; nothing is computed here that the command does
//! not know, too. `enter.rs` is what every request passes: who asks, where from, and the headers of the answer.

mod action;
mod admin;
mod api;
mod assets;
mod auth;
mod cookie;
mod csrf;
mod ctx;
mod enter;
mod failure;
mod health;
mod metrics;
mod page;
mod router;
mod serve;
mod view;

pub use admin::Admin;
pub use auth::Access;
pub use metrics::METRICS;
pub use serve::{BindError, Listening, bind};
