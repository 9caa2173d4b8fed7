//! From the first delivery to the last slot that comes back.

use std::sync::Arc;
use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::board::Board;
use super::crew::Crew;
use super::endpoint::Endpoint;
use super::feed::{self, Fed};
use super::pace::DRAIN_WITHIN;
use super::screen::Screen;
use super::stop::Stop;
use super::tenants::Tenants;
use super::walk::Walk;
use crate::error::CliError;
use crate::output;

/// How often the numbers are read.
const REFRESH: Duration = Duration::from_millis(500);

/// How it went.
pub(super) enum Ending {
    /// Everything is done, or its time is up.
    Over(Fed),
    /// The user asked to stop at once.
    Quit,
}

/// What is in place when staging begins.
pub(super) struct Stage {
    pub(super) walk: Arc<Walk>,
    pub(super) tenants: Arc<Tenants>,
    pub(super) endpoint: Endpoint,
    pub(super) crew: Crew,
    /// Reads the numbers, and holds the lock on the database.
    pub(super) observer: PgConnection,
}

/// Stages for `duration`, or until asked to stop, then waits until everything is done, no longer than [`DRAIN_WITHIN`].
///
/// # Errors
/// When the database does not answer, or a ticker or worker ends by itself.
pub(super) async fn drive(
    stage: &mut Stage,
    producer: PgConnection,
    duration: Option<Duration>,
    stop: &mut Stop,
) -> Result<Ending, CliError> {
    let enough = CancellationToken::new();
    // However this ends, the producer ends too.
    let _guard = enough.clone().drop_guard();
    let feeding = feed::run(producer, stage.walk.clone(), stage.tenants.clone(), enough.clone());
    let mut feeding = tokio::spawn(feeding);
    let (mut board, mut screen) = (Board::new(stage.tenants.clone()), Screen::new());
    let begun = Instant::now();
    let mut refresh = interval(REFRESH);
    refresh.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let time_is_up = async {
        match duration {
            Some(duration) => sleep(duration).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(time_is_up);
    let mut fed = None;
    let mut deadline = None;
    loop {
        tokio::select! {
            _ = refresh.tick() => {
                board.refresh(&mut stage.observer, &stage.endpoint).await?;
                let phase = phase(begun.elapsed(), duration, deadline);
                if let Some(fed) = fed
                    && (board.is_done() || deadline.is_some_and(|at| at <= Instant::now()))
                {
                    screen.clear();
                    return Ok(Ending::Over(fed));
                }
                screen.show(&phase, &board.lines());
            }
            () = &mut time_is_up, if deadline.is_none() => {
                enough.cancel();
                deadline = Some(Instant::now() + DRAIN_WITHIN);
            }
            () = stop.asked() => {
                if deadline.is_some() {
                    screen.clear();
                    return Ok(Ending::Quit);
                }
                enough.cancel();
                deadline = Some(Instant::now() + DRAIN_WITHIN);
                screen.clear();
                output::say("staging has stopped; waiting for what was staged. Ctrl-C again stops at once");
            }
            outcome = &mut feeding, if fed.is_none() => {
                let outcome = outcome.map_err(|error| CliError::failed(format!("the producer broke: {error}")))?;
                fed = Some(outcome?);
            }
            error = stage.crew.failed() => return Err(error),
        }
    }
}

fn phase(elapsed: Duration, duration: Option<Duration>, deadline: Option<Instant>) -> String {
    let elapsed = elapsed.as_secs();
    match (deadline, duration) {
        (Some(at), _) => {
            let left = at.saturating_duration_since(Instant::now()).as_secs();
            format!("{elapsed} s, draining (at most {left} s more)")
        }
        (None, Some(duration)) => format!("{elapsed} s of {} s, staging", duration.as_secs()),
        (None, None) => format!("{elapsed} s, staging; Ctrl-C to stop"),
    }
}
