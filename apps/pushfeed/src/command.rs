//! What the commands do and print: the state and the one-line answer on stdout, logs on stderr.

mod enrich;
mod ingest;

use std::io::Write;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::cli::{Cli, Command};
use crate::config::Config;
use crate::error::FeedError;
use crate::status::{Status, block};
use crate::{log, service, setup};

/// Runs a command to its exit code: 0 done or deferred, 1 the attempt failed, 2 refused.
///
/// # Errors
/// What is wrong, and what to do.
pub async fn run(cli: Cli, environment: impl Fn(&str) -> Option<String>) -> Result<u8, FeedError> {
    let config = Config::read(environment).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
        FeedError::usage(format!("the settings cannot be used{}", lines.concat()))
            .hint(".env.example lists every setting with its default")
    })?;
    log::start(&config.log);
    let app = Arc::new(App::new(config)?);
    match cli.command {
        Command::Ingest(args) => ingest::run(&app, &args).await,
        Command::Enrich(args) => enrich::run(&app, &args).await,
        Command::Run => serve(app).await,
        Command::Status(args) => status(&app, args.json).await,
        Command::Migrate => {
            setup::migrate(&app).await?;
            print("The database is up to date: schemas fairgate, pushfeed, pushfeed_queue\n")?;
            Ok(0)
        }
    }
}

async fn status(app: &App, json: bool) -> Result<u8, FeedError> {
    setup::ensure(app).await?;
    let status = Status::read(app, &mut app.connect().await?).await?;
    let text = match json {
        true => serde_json::to_string_pretty(&status)
            .map_err(|error| FeedError::failed(format!("writing the status: {error}")))?,
        false => block(&status.lines()),
    };
    print(&format!("{}\n", text.trim_end()))?;
    Ok(0)
}

async fn serve(app: Arc<App>) -> Result<u8, FeedError> {
    let listen =
        |kind| signal(kind).map_err(|error| FeedError::failed(format!("cannot listen for signals: {error}")));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tracing::info!("stopping; once more stops at once, which loses nothing either");
        told.cancel();
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        std::process::exit(130);
    });
    service::run(app, stop).await?;
    Ok(0)
}

/// Writes to stdout. A reader that went away has what it wanted.
fn print(text: &str) -> Result<(), FeedError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(FeedError::failed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
