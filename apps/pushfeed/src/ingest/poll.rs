//! One poll of the feed.

use std::time::Duration;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::page::{self, Counts};
use super::run::{Journal, Outcome};
use super::source::{EVENTS, Source};
use super::write;
use crate::app::Worker;
use crate::error::FeedError;
use crate::fetch::{Deferral, Fetched, Purse, Wish, fetch};
use crate::github::{ApiResponse, ApiUrl, link};
use crate::plan;

/// The first page.
const FIRST: &str = "/events?per_page=100";

/// How a poll ended.
#[derive(Debug)]
pub enum Polled {
    /// GitHub was contacted.
    Ran {
        /// The run.
        id: Uuid,
        /// How it ended.
        outcome: Outcome,
        /// What went wrong.
        error: Option<String>,
        /// What it brought.
        counts: Counts,
    },
    /// Another poller is at work.
    Busy,
    /// The schedule says not yet.
    NotDue {
        /// The component that says so.
        component: &'static str,
        /// When it is due.
        until: DateTime<Utc>,
    },
    /// The budget says no.
    Deferred(Deferral),
    /// An operator must act first.
    OutOfService(String),
}

/// Polls if that is due. `force` drops our rhythm and the stored validator, nothing else. Refusals change nothing.
///
/// # Errors
/// When the database does not answer.
pub async fn poll(worker: &mut Worker<'_>, force: bool, patience: Duration) -> Result<Polled, FeedError> {
    if !worker.locks.lock_source(EVENTS, patience).await? {
        return Ok(Polled::Busy);
    }
    let polled = locked(worker, force).await;
    worker.locks.unlock_source().await?;
    polled
}

async fn locked(worker: &mut Worker<'_>, force: bool) -> Result<Polled, FeedError> {
    let source = Source::read(&mut worker.conn).await?;
    if let Some(why) = source.out_of_service {
        return Ok(Polled::OutOfService(why));
    }
    let (ledger, now) = worker.app.budget.read(&mut worker.conn, None).await?;
    let schedule = source.schedule(&worker.app.config, &ledger);
    let schedule = if force { schedule.forced() } else { schedule };
    if let Some((component, until)) = schedule.waits_for(now) {
        return Ok(Polled::NotDue { component, until });
    }
    let journal = Journal::new(EVENTS, force);
    let span = tracing::info_span!("poll", run_id = %journal.id);
    tracing::Instrument::instrument(run(worker, source, journal), span).await
}

async fn run(worker: &mut Worker<'_>, mut source: Source, mut journal: Journal) -> Result<Polled, FeedError> {
    let mut counts = Counts::default();
    let etag = if journal.is_forced() { None } else { source.etag.clone() };
    let known = source.etag.clone();
    let ended = pages(worker, &mut source, &mut journal, etag, &mut counts).await?;
    let (outcome, error, retry_after) = match ended {
        Ended::Deferred(deferral) if !journal.contacted() => return Ok(Polled::Deferred(deferral)),
        Ended::Deferred(_) => (Outcome::Succeeded, None, None),
        Ended::As(outcome, error, retry_after) => (outcome, error, retry_after),
    };
    let now = journal.finish(&mut worker.conn, outcome, error.as_deref(), &counts).await?;
    source.last_finished_at = Some(now);
    if !outcome.is_success() {
        source.etag = known;
    }
    match outcome {
        Outcome::Succeeded | Outcome::NotModified => {
            source.last_succeeded_at = Some(now);
            source.failures = 0;
            source.backoff_until = None;
        }
        Outcome::Failed => source.failed(now, retry_after, journal.id.as_bytes()[15]),
        Outcome::Limited => {
            if let Some(wait) = retry_after {
                source.delayed(now + wait.min(Duration::from_secs(3600)));
            }
        }
        Outcome::Refused => source.out_of_service.clone_from(&error),
    }
    source.write(&mut worker.conn).await?;
    report(outcome, error.as_deref(), &counts);
    Ok(Polled::Ran { id: journal.id, outcome, error, counts })
}

fn report(outcome: Outcome, error: Option<&str>, counts: &Counts) {
    let code = outcome.code();
    if outcome.is_success() {
        let Counts { pages, seen, created, duplicates, quarantined, ignored, failed, reactivated } = *counts;
        tracing::info!(
            outcome = code,
            pages,
            seen,
            created,
            duplicates,
            quarantined,
            ignored,
            failed,
            "poll completed"
        );
        if reactivated > 0 {
            tracing::info!(entities = reactivated, "entities reactivated");
        }
    } else {
        tracing::warn!(outcome = code, error, "poll failed");
    }
}

enum Ended {
    As(Outcome, Option<String>, Option<Duration>),
    Deferred(Deferral),
}

/// Fetches pages, each written before the next is asked for.
async fn pages(
    worker: &mut Worker<'_>,
    source: &mut Source,
    journal: &mut Journal,
    etag: Option<String>,
    counts: &mut Counts,
) -> Result<Ended, FeedError> {
    let mut visited = vec![ApiUrl::of_path(FIRST)];
    let mut etag = etag;
    loop {
        let url = visited[visited.len() - 1].clone();
        let first = visited.len() == 1;
        let lane = plan::poll_lane(&worker.app.config.plan);
        let wish =
            Wish { url, etag: etag.take(), purse: Purse::Core, lane, borrow: fairgate::budget::Borrow::No };
        let fetched = fetch(worker, wish, Some(&mut *journal)).await?;
        let now = worker.now().await?;
        let response = match fetched {
            Fetched::Document(response) => response,
            Fetched::NotModified(response) => {
                source.answered(response.headers.poll_interval(), now);
                return Ok(Ended::As(Outcome::NotModified, None, None));
            }
            Fetched::Deferred(deferral) => return Ok(Ended::Deferred(deferral)),
            Fetched::Refused(why, _) => return Ok(Ended::As(Outcome::Refused, Some(why), None)),
            Fetched::Failed(why, wait) => return Ok(Ended::As(Outcome::Failed, Some(why), wait)),
            Fetched::PrimaryLimit => {
                return Ok(Ended::As(Outcome::Limited, Some("primary limit".to_owned()), None));
            }
            Fetched::SecondaryLimit(wait) => {
                return Ok(Ended::As(Outcome::Limited, Some("secondary limit".to_owned()), wait));
            }
        };
        source.answered(response.headers.poll_interval(), now);
        let page = match page::read(&response.body) {
            Ok(page) => page,
            Err(why) => return Ok(Ended::As(Outcome::Failed, Some(why), None)),
        };
        let empty = page.counts.seen == 0;
        *counts += write::write(&mut worker.conn, page, Some(journal.id), now).await?;
        if first {
            source.etag = response.headers.get("etag").map(str::to_owned);
        }
        let full = visited.len() >= worker.app.config.pages as usize;
        match next(&response) {
            Some(next) if !full && !empty && !visited.contains(&next) => visited.push(next),
            _ => return Ok(Ended::As(Outcome::Succeeded, None, None)),
        }
    }
}

/// The next page, if there is one that may be asked for.
fn next(response: &ApiResponse) -> Option<ApiUrl> {
    let target = link::next(response.headers.get("link")?)?;
    match ApiUrl::parse(target) {
        Ok(url) => Some(url),
        Err(refusal) => {
            tracing::warn!(%refusal, "the next page is not asked for");
            None
        }
    }
}
