//! `pushfeed ingest`.

use super::print;
use crate::app::App;
use crate::cli::{IngestArgs, SourceKind};
use crate::error::FeedError;
use crate::ingest::run::Outcome;
use crate::ingest::{Counts, Polled, archive, poll};
use crate::setup;
use crate::status::{Status, block, instant};

pub(super) async fn run(app: &App, args: &IngestArgs) -> Result<u8, FeedError> {
    setup::ensure(app).await?;
    if args.source == SourceKind::Gharchive {
        return import(app, args).await;
    }
    if !args.files.is_empty() {
        return Err(FeedError::usage("files are read with --source gharchive only"));
    }
    let mut worker = app.worker().await?;
    let polled = poll(&mut worker, args.force, app.config.source_wait).await?;
    let status = Status::read(app, &mut worker.conn).await?;
    let (answer, code) = answer(&polled, &status);
    let counts = match polled {
        Polled::Ran { counts, .. } => counts,
        _ => Counts::default(),
    };
    print(&format!("{answer}\n{}", block(&lines(&counts, &status))))?;
    Ok(code)
}

/// Reads files; those that were read before are passed over.
async fn import(app: &App, args: &IngestArgs) -> Result<u8, FeedError> {
    let mut conn = app.connect().await?;
    let bar = progress(&args.files);
    let mut counts = Counts::default();
    let mut read = 0;
    for file in &args.files {
        let imported = archive::import(&mut conn, file, &|bytes| bar.inc(bytes)).await?;
        counts += imported.counts;
        read += u32::from(!imported.was_done);
    }
    bar.finish_and_clear();
    let status = Status::read(app, &mut conn).await?;
    let known = args.files.len() - read as usize;
    print(&format!("Imported {read} files, {known} were there\n{}", block(&lines(&counts, &status))))?;
    Ok(0)
}

/// A bar on a terminal, nothing elsewhere.
fn progress(files: &[std::path::PathBuf]) -> indicatif::ProgressBar {
    let bytes = files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum();
    let bar = indicatif::ProgressBar::new(bytes);
    let style =
        indicatif::ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// The one-line answer and the exit code.
fn answer(polled: &Polled, status: &Status) -> (String, u8) {
    match polled {
        Polled::Ran { outcome, error, .. } => {
            let why = error.as_deref().unwrap_or_default();
            match outcome {
                Outcome::Succeeded => ("Polled".to_owned(), 0),
                Outcome::NotModified => ("Polled: nothing new (304)".to_owned(), 0),
                Outcome::Limited => (format!("Deferred: {why}{}", super::enrich::until(status)), 0),
                Outcome::Failed => (format!("Failed: {why}"), 1),
                Outcome::Refused => {
                    (format!("Failed: {why}; the source is out of service until an operator acts"), 1)
                }
            }
        }
        Polled::Busy => ("Busy: another poller is at work".to_owned(), 0),
        Polled::NotDue { component, until } => {
            (format!("Deferred: {component} until {}", instant(*until)), 0)
        }
        Polled::Deferred(deferral) => (super::enrich::deferred(deferral), 0),
        Polled::OutOfService(why) => {
            (format!("Deferred: the source is out of service until an operator acts ({why})"), 0)
        }
    }
}

fn lines(counts: &Counts, status: &Status) -> Vec<(&'static str, String)> {
    let latest = status.source.latest_successful_run.map_or_else(|| "none".to_owned(), instant);
    vec![
        ("Pages fetched", counts.pages.to_string()),
        ("Events seen", counts.seen.to_string()),
        ("Push events created", counts.created.to_string()),
        ("Duplicates skipped", counts.duplicates.to_string()),
        ("Events quarantined", counts.quarantined.to_string()),
        ("Non-push events ignored", counts.ignored.to_string()),
        ("Events failed", counts.failed.to_string()),
        ("Latest successful run", latest),
        ("Persisted push events", status.events.persisted.to_string()),
        ("Pending actor enrichments", status.actors.pending.to_string()),
        ("Pending repository enrichments", status.repositories.pending.to_string()),
        ("Next poll due", status.next_poll()),
        ("Budget remaining (core)", status.remaining()),
        ("Global block", status.block()),
    ]
}
