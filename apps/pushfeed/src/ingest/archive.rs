//! Files of GH Archive: gzip, one event a line, of any age.
//!
//! One thread unpacks, the others read lines, and one connection writes batches in order. How far a file was read is written in the transaction
//! of each batch, so an import that was cut off goes on where it was. Nothing is asked of GitHub: no debit, no run, and what the events mention is
//! born `skipped_budget`, since enriching the past would starve the present.

mod lines;
mod write;

use std::path::Path;

use sqlx::PgConnection;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::page::Counts;
use crate::error::{Doing, FeedError};
use lines::{Batch, Parsed};

/// Batches that are read ahead.
const AHEAD: usize = 3;

/// What a file brought.
#[derive(Debug, Clone, Copy, Default)]
pub struct Imported {
    /// In this run.
    pub counts: Counts,
    /// Whether all of it was there.
    pub was_done: bool,
}

/// Reads a file into the database. `progress` is told of the bytes of the file that are done.
///
/// # Errors
/// When the file cannot be read, or the database does not answer; what was written stays, and the next import goes on after it.
pub async fn import(
    conn: &mut PgConnection,
    path: &Path,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Imported, FeedError> {
    let unreadable =
        |error: &dyn std::fmt::Display| FeedError::failed(format!("reading {}: {error}", path.display()));
    let bytes = std::fs::metadata(path).map_err(|error| unreadable(&error))?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = (name.as_str(), i64::try_from(bytes).unwrap_or(i64::MAX));
    let (done, finished): (i64, bool) =
        sqlx::query_as(include_str!("../../queries/ingest/begin_archive_file.sql"))
            .bind(file.0)
            .bind(file.1)
            .fetch_one(&mut *conn)
            .await
            .doing("looking up a file")?;
    if finished {
        progress(bytes);
        return Ok(Imported { was_done: true, ..Imported::default() });
    }
    let (sender, mut receiver) = mpsc::channel::<JoinHandle<Parsed>>(AHEAD);
    let from = path.to_owned();
    let skip = u64::try_from(done).unwrap_or_default();
    let runtime = tokio::runtime::Handle::current();
    let unpacking = tokio::task::spawn_blocking(move || {
        lines::batches(&from, skip, |batch: Batch| {
            let parsing = runtime.spawn_blocking(move || lines::parse(&batch));
            sender.blocking_send(parsing).is_ok()
        })
    });
    let mut imported = Imported::default();
    while let Some(parsing) = receiver.recv().await {
        let parsed = parsing.await.map_err(|error| unreadable(&error))?;
        progress(parsed.packed);
        imported.counts += write::batch(conn, file, &parsed).await?;
    }
    unpacking.await.map_err(|error| unreadable(&error))?.map_err(|error| unreadable(&error))?;
    sqlx::query(include_str!("../../queries/ingest/finish_archive_file.sql"))
        .bind(file.0)
        .bind(file.1)
        .execute(conn)
        .await
        .doing("finishing a file")?;
    let counts = imported.counts;
    tracing::info!(
        file = name,
        created = counts.created,
        quarantined = counts.quarantined,
        "archive file imported"
    );
    Ok(imported)
}
