//! One cycle: age out, choose, lease, request, one outcome. At most one entity, unless searches are wanted and one may go.

use std::time::Duration;

use super::choose::{Choice, choose};
use super::document;
use super::pool::{self, Leased, Outcome};
use super::{Kind, search, summary};
use crate::app::Worker;
use crate::error::FeedError;
use crate::fetch::{Deferral, Fetched, Purse, Wish, fetch};
use crate::github::{ApiUrl, UrlRefusal};
use crate::ingest::source::backoff;
use crate::plan;

/// The bounds of a wait that a server asks for.
pub(super) const WAIT: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));

/// How a cycle ended.
#[derive(Debug)]
pub enum Cycle {
    /// An entity has its document.
    Enriched(Kind),
    /// An entity has its failure.
    Failed(Kind, String),
    /// One search brought this many documents, and not those of the others that it asked for.
    Searched(Kind, u32, u32),
    /// A limit: nothing is known of the entity.
    Limited,
    /// Nothing was sent; the entity is as it was.
    Deferred(Deferral),
    /// Nobody is due.
    Nothing,
    /// Another worker took the entity over.
    LeaseLost,
}

/// Runs one cycle, for one kind only if that is wanted.
///
/// # Errors
/// When the database does not answer; a lease then ends by itself.
pub async fn enrich(worker: &mut Worker<'_>, only: Option<Kind>) -> Result<Cycle, FeedError> {
    let run_id = uuid::Uuid::new_v4();
    let span = tracing::info_span!("enrich", run_id = %run_id);
    tracing::Instrument::instrument(cycle(worker, only), span).await
}

async fn cycle(worker: &mut Worker<'_>, only: Option<Kind>) -> Result<Cycle, FeedError> {
    let app = worker.app;
    pool::age_out(&mut worker.conn, &app.config).await?;
    if let Some(cycle) = search::batch(worker, only).await? {
        return Ok(cycle);
    }
    let Some((choice, leased)) = find(worker, only).await? else {
        return Ok(Cycle::Nothing);
    };
    let (leased, choice) = match leased {
        Ok(leased) => (leased, choice),
        Err(deferral) => return Ok(Cycle::Deferred(deferral)),
    };
    let (outcome, cycle) = attempt(worker, &choice, &leased).await?;
    if !pool::write(&mut worker.conn, choice.kind, &leased, &outcome).await? {
        tracing::warn!(kind = choice.kind.code(), id = leased.id, "lease_lost");
        return Ok(Cycle::LeaseLost);
    }
    match &cycle {
        Cycle::Enriched(kind) => tracing::info!(kind = kind.code(), id = leased.id, "entity enriched"),
        Cycle::Failed(kind, why) => tracing::info!(kind = kind.code(), id = leased.id, why, "entity failed"),
        _ => {}
    }
    Ok(cycle)
}

/// Chooses and leases. Where the budget says no, nothing is leased.
async fn find(
    worker: &mut Worker<'_>,
    only: Option<Kind>,
) -> Result<Option<(Choice, Result<Leased, Deferral>)>, FeedError> {
    let app = worker.app;
    // Another worker may take the candidate in between; then the next one is looked for.
    for _ in 0..3 {
        let mut facts = pool::census(&mut worker.conn, &app.config).await?;
        let (ledger, now) = app.budget.read(&mut worker.conn, None).await?;
        for kind in Kind::ALL {
            (facts[kind.index()].used, facts[kind.index()].guarantee) =
                summary::share(&app.config.plan, &ledger, plan::lane(&app.config.plan, kind));
        }
        let Some(choice) = choose(facts, only) else { return Ok(None) };
        if let Some(denial) = summary::denial(
            &app.config.plan,
            &ledger,
            plan::lane(&app.config.plan, choice.kind),
            choice.borrow,
            now,
        ) {
            return Ok(Some((choice, Err(Deferral::Denied(denial)))));
        }
        if let Some(leased) = pool::lease(&mut worker.conn, &app.config, choice.kind, choice.pool).await? {
            return Ok(Some((choice, Ok(leased))));
        }
    }
    Ok(None)
}

async fn attempt(
    worker: &mut Worker<'_>,
    choice: &Choice,
    leased: &Leased,
) -> Result<(Outcome, Cycle), FeedError> {
    let kind = choice.kind;
    let permanent = |why: String| (Outcome::Permanent(why.clone()), Cycle::Failed(kind, why));
    let url = match address(kind, leased) {
        Ok(url) => url,
        Err(refusal) => return Ok(permanent(format!("refused address: {refusal}"))),
    };
    let lane = plan::lane(&worker.app.config.plan, kind);
    let wish = Wish { url, etag: None, purse: Purse::Core, lane, borrow: choice.borrow };
    Ok(match fetch(worker, wish, None).await? {
        Fetched::Document(response) => match document::check(&response.body, leased.id) {
            Ok(document) => (Outcome::Complete(document), Cycle::Enriched(kind)),
            Err(why) => permanent(why),
        },
        Fetched::NotModified(_) => permanent("GitHub answered 304 to no validator".to_owned()),
        // What is wrong with us, as with a token, is not the entity's fault.
        Fetched::Refused(why, Some(status)) if !matches!(status, 403 | 404 | 410 | 422 | 451) => {
            retryable(kind, leased, why, None)
        }
        Fetched::Refused(why, _) => permanent(why),
        Fetched::Failed(why, told) => retryable(kind, leased, why, told),
        Fetched::PrimaryLimit => (Outcome::Restored, Cycle::Limited),
        Fetched::SecondaryLimit(told) => {
            (Outcome::Delayed(told.unwrap_or_default().clamp(WAIT.0, WAIT.1)), Cycle::Limited)
        }
        Fetched::Deferred(deferral) => (Outcome::Restored, Cycle::Deferred(deferral)),
    })
}

/// It may be better after 60 s, doubling with each failure in a row, or after what the server asks for.
fn retryable(kind: Kind, leased: &Leased, why: String, told: Option<Duration>) -> (Outcome, Cycle) {
    let failures = u32::try_from(leased.attempts).unwrap_or_default().saturating_add(1);
    let wait = backoff(failures).max(told.unwrap_or_default().min(WAIT.1));
    (Outcome::Retryable(why.clone(), wait), Cycle::Failed(kind, why))
}

/// Where the document is: where an event said, or where GitHub keeps documents by id.
fn address(kind: Kind, leased: &Leased) -> Result<ApiUrl, UrlRefusal> {
    let by_id = match kind {
        Kind::Actor => "user",
        Kind::Repository => "repositories",
    };
    match &leased.api_url {
        Some(url) => ApiUrl::parse(url),
        None => ApiUrl::redirect(&format!("/{by_id}/{}", leased.id)),
    }
}
