//! The tickers and workers that run beside each other in this process.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use fairgate::Ticker;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::install;
use super::place::Place;
use crate::error::CliError;
use crate::{database, output};

/// How long they may take to lay down their work.
const PATIENCE: Duration = Duration::from_secs(10);

/// A worker that is ready to run, until it is stopped or something is wrong.
pub(super) type Hand = Pin<Box<dyn Future<Output = Result<(), CliError>> + Send>>;

/// What runs, and how it is told to stop.
pub(super) struct Crew {
    stop: CancellationToken,
    tasks: JoinSet<Result<(), CliError>>,
}

impl Crew {
    /// Starts a ticker for each of the demo's policies, which leaves every other policy of the database alone, and the workers.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(super) async fn start(
        place: &Place,
        workers: Vec<Hand>,
        stop: CancellationToken,
    ) -> Result<Self, CliError> {
        let mut tasks = JoinSet::new();
        for name in install::names()? {
            let ticker = Ticker::builder(database::ticker_pool(&place.database, false).await?)
                .only_policy(&name)
                .build()?;
            let stopped = stop.clone().cancelled_owned();
            tasks.spawn(async move { ticker.run(stopped).await.map_err(CliError::from) });
        }
        for worker in workers {
            tasks.spawn(worker);
        }
        Ok(Self { stop, tasks })
    }

    /// Waits for one to end, which none does by itself unless something is wrong.
    pub(super) async fn failed(&mut self) -> CliError {
        match self.tasks.join_next().await {
            Some(Ok(Err(error))) => error,
            Some(Ok(Ok(()))) => CliError::failed("a ticker or worker of the demo stopped by itself"),
            Some(Err(error)) => {
                CliError::failed("a ticker or worker of the demo broke").cause(error.to_string())
            }
            None => std::future::pending().await,
        }
    }

    /// Stops all of them, each after what it has in hand.
    pub(super) async fn dismiss(mut self) {
        self.stop.cancel();
        let all = async {
            while let Some(ended) = self.tasks.join_next().await {
                if let Ok(Err(error)) = ended {
                    output::say(&error.to_string());
                }
            }
        };
        if tokio::time::timeout(PATIENCE, all).await.is_err() {
            output::say("warning: a ticker or worker of the demo did not stop in time");
        }
    }
}
