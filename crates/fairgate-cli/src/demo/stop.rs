//! Ctrl-C and SIGTERM.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::error::CliError;

/// What a shell reports for a program that SIGINT ended.
pub(super) const INTERRUPTED: u8 = 130;
/// How long the second request may go unheard before the process ends anyhow; the private server stops by itself then.
const PATIENCE: Duration = Duration::from_secs(5);

/// Requests to stop, none of which is lost.
pub(super) struct Stop {
    requests: watch::Receiver<u32>,
    heard: u32,
}

impl Stop {
    /// From now on a signal does not end the process by itself.
    ///
    /// # Errors
    /// When the system refuses to tell of signals.
    pub(super) fn listen() -> Result<Self, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CliError::failed(format!("cannot listen for signals: {error}")))
        };
        let (mut interrupt, mut terminate) =
            (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
        let (count, requests) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                count.send_modify(|requests| *requests += 1);
                if *count.borrow() == 2 {
                    tokio::spawn(async {
                        tokio::time::sleep(PATIENCE).await;
                        std::process::exit(INTERRUPTED.into());
                    });
                }
            }
        });
        Ok(Self { requests, heard: 0 })
    }

    /// Waits for the next request.
    pub(super) async fn asked(&mut self) {
        let heard = self.heard;
        match self.requests.wait_for(|requests| *requests > heard).await {
            Ok(_) => self.heard += 1,
            // Nobody listens any more: the runtime is going down.
            Err(_) => std::future::pending().await,
        }
    }
}
