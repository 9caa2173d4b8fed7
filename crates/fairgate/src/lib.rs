//! Fair admission in front of the PostgreSQL job queue you already run.
//!
//! Jobs are staged in our table ([`stage()`]), inside your own transaction. A [`Ticker`] admits them, tenant by tenant, through gates, fairly,
//! and hands them to the real queue inside one transaction. When the queue is done with a job, its slot comes back ([`queue`] hooks, or the SQL
//! functions of [`track`]), and the [`sweep`] repairs what was lost on the way.
//! Workers of queues whose tables do not show that hold a [`guard`]; for the tests of your own program there is [`testing`].
//! What such jobs ask of a rate-limited API is shared by a [`budget`].
//!
//! Read [`tick`] first: it is the whole flow in one screen. The decisions themselves are pure and live in [`fairgate_core`].
//!
//! ```no_run
//! # async fn example(pool: sqlx::PgPool) -> Result<(), Box<dyn std::error::Error>> {
//! use fairgate::{NewJob, Policy, Ticker, queue::GraphileWorker};
//!
//! fairgate::migrate(&mut *pool.acquire().await?).await?;
//! let policy = Policy::builder("webhooks").queue("main").partition_by("account_id").concurrency(|c| c.max_from("max_per_account", 5.0)).build()?;
//! let ticker = Ticker::builder(pool.clone()).queue("main", GraphileWorker::new("graphile_worker")?)?.policy(policy).register().await?;
//!
//! let job = NewJob::new("deliver").payload(&serde_json::json!({"url": "http://example.org"}))?.context(&serde_json::json!({"account_id": 7}))?;
//! fairgate::stage(&mut *pool.acquire().await?, "webhooks", &job).await?;
//! ticker.run(async { tokio::signal::ctrl_c().await.ok(); }).await?;
//! # Ok(()) }
//! ```

pub mod absorb;
mod admit;
pub mod audit;
pub mod budget;
mod claim;
pub mod config;
pub mod doctor;
mod error;
mod explain;
pub mod force;
pub mod guard;
mod isolate;
mod lane;
pub mod lock;
pub mod migrate;
pub mod observe;
pub mod operate;
pub mod overrides;
pub mod quarantine;
pub mod queue;
pub mod registry;
mod scopes;
pub mod settings;
mod settle;
mod share;
mod sql;
pub mod stage;
pub mod sweep;
pub mod testing;
pub mod tick;
pub mod ticker;
pub mod track;
pub mod uninstall;

pub use error::DatabaseError;
pub use fairgate_core::context::Context;
pub use fairgate_core::definition::{Dedupe, DedupeUntil, OnConflict, Retry};
pub use fairgate_core::id::{AdmissionId, JobId, PartitionKey, PolicyName, QueueName, Shard};
pub use fairgate_core::policy::{Policy, PolicyBuilder, Problems};
pub use migrate::{MIGRATOR, MigrateError, migrate};
pub use settings::Settings;
pub use stage::{NewJob, Outcome, StageError, Staged, cancel, stage, stage_many};
pub use ticker::Ticker;
