//! `fairgate run`: applies the file, then admits jobs until told to stop.

use std::process::ExitCode;
use std::time::Duration;

use fairgate::config::nearest;
use fairgate::{PolicyName, Ticker, observe};
use sqlx::PgConnection;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::apply;
use crate::args::RunArgs;
use crate::error::CliError;
use crate::{admin, config, database};

/// What a shell reports for a program that SIGINT ended.
const INTERRUPTED: i32 = 130;

pub(crate) async fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let config = config::load(&args.config.config)?;
    // Before anything else, so that what would be open to everybody changes nothing.
    let pages = database::admin_pool(&args.database, config.engine.pooled)?;
    let pages = admin::listen(&args.admin, pages, config.engine.clone()).await?;
    let pool = database::ticker_pool(&args.database, config.engine.pooled).await?;
    let mut connection = database::acquire(&pool).await?;
    database::require_schema(&mut connection).await?;
    let applied = apply::register(&mut connection, &config, !args.no_hooks, false).await?;
    apply::warn(&applied);
    if let Some(policy) = &args.policy {
        require_policy(&mut connection, policy).await?;
    }
    drop(connection);
    let admin = pages.map(admin::serve);

    let mut builder = Ticker::builder(pool).settings(config.engine).hooks(!args.no_hooks);
    if let Some(policy) = &args.policy {
        builder = builder.only_policy(policy);
    }
    if let Some(shard) = &args.shard {
        builder = builder.only_shard(shard);
    }
    let ticker = builder.build()?;
    let stop = Stop::new(args.duration)?;
    tracing::info!("admitting jobs; Ctrl-C or SIGTERM stops");
    let ended = ticker.run(stop.wait()).await;
    if let Some(admin) = admin {
        admin.close().await;
    }
    ended?;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Refuses to serve a policy that is not there, which would mean to serve nothing.
async fn require_policy(connection: &mut PgConnection, policy: &PolicyName) -> Result<(), CliError> {
    let registered = observe::policies(connection).await?;
    let names: Vec<&str> = registered.iter().map(|policy| policy.name.as_str()).collect();
    if names.contains(&policy.as_str()) {
        return Ok(());
    }
    let refusal = CliError::usage(format!("policy \"{policy}\" is not registered"));
    Err(match nearest(policy.as_str(), names.iter().copied()) {
        Some(name) => refusal.hint(format!("did you mean \"{name}\"?")),
        None => refusal.hint(format!("registered: {}", names.join(", "))),
    })
}

/// What ends the ticker.
struct Stop {
    interrupt: Signal,
    terminate: Signal,
    after: Option<Duration>,
}

impl Stop {
    fn new(after: Option<Duration>) -> Result<Self, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CliError::failed(format!("cannot listen for signals: {error}")))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            after,
        })
    }

    /// Ready when the ticker should stop; from then on one more Ctrl-C ends the program at once.
    async fn wait(mut self) {
        let over = async {
            match self.after {
                Some(after) => tokio::time::sleep(after).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {
                tracing::info!("stopping after this tick; Ctrl-C again stops at once, which loses nothing either");
            }
            _ = self.terminate.recv() => tracing::info!("stopping after this tick"),
            () = over => tracing::info!("time is up, stopping after this tick"),
        }
        tokio::spawn(async move {
            self.interrupt.recv().await;
            std::process::exit(INTERRUPTED);
        });
    }
}
