//! Batches: several entities that were never enriched, with one search on GitHub's search budget.
//!
//! A search's documents are shorter than those of requests for one, so nothing that is complete is refreshed by one. What a search does not bring, be it not
//! there, of another id or of a bad body, is asked for alone from then on.

use std::fmt::Write;

use fairgate::budget::{Denial, Ledger};
use serde::Deserialize;
use serde_json::value::RawValue;
use sqlx::PgConnection;

use super::choose::{Choice, Facts, choose};
use super::cycle::{Cycle, WAIT};
use super::pool::{self, Leased, Outcome, interval};
use super::summary::{self, Next};
use super::{Kind, document};
use crate::app::{App, Worker};
use crate::error::{Doing, FeedError};
use crate::fetch::{self, Fetched, Purse, Wish, fetch};
use crate::github::ApiUrl;
use crate::plan;

/// What a name that can be searched for looks like; bots' names do not.
const NAMES: [&str; 2] = ["^[A-Za-z0-9_-]{1,39}$", "^[A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100}$"];

/// An entity of a batch.
#[derive(Debug, sqlx::FromRow)]
struct Sought {
    #[sqlx(flatten)]
    leased: Leased,
    name: String,
}

/// What GitHub answers. Its items are kept as they came.
#[derive(Deserialize)]
struct Found<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// Searches for a batch, if searches are wanted, there are candidates, and the budget allows it.
pub(super) async fn batch(worker: &mut Worker<'_>, only: Option<Kind>) -> Result<Option<Cycle>, FeedError> {
    let Some(Chosen { choice, denial: None }) = chosen(worker.app, &mut worker.conn, only).await? else {
        return Ok(None);
    };
    let kind = choice.kind;
    let sought = lease(worker, kind).await?;
    if sought.is_empty() {
        return Ok(None);
    }
    let lane = plan::search_lane(&worker.app.config.search_plan, kind);
    let url = address(kind, &sought)?;
    let wish = Wish { url, etag: None, purse: Purse::Search, lane, borrow: choice.borrow };
    let fetched = fetch(worker, wish, None).await?;
    let outcomes = outcomes(&fetched, &sought);
    let (mut enriched, mut missed) = (0, 0);
    for (sought, outcome) in sought.iter().zip(&outcomes) {
        let id = sought.leased.id;
        if !pool::write(&mut worker.conn, kind, &sought.leased, outcome).await? {
            tracing::warn!(kind = kind.code(), id, "lease_lost");
            continue;
        }
        match outcome {
            Outcome::Complete(_) => {
                enriched += 1;
                tracing::info!(kind = kind.code(), id, "entity enriched");
            }
            Outcome::NotFound => missed += 1,
            _ => {}
        }
    }
    Ok(Some(match fetched {
        Fetched::Deferred(deferral) => Cycle::Deferred(deferral),
        Fetched::PrimaryLimit | Fetched::SecondaryLimit(_) => Cycle::Limited,
        Fetched::Failed(why, _) | Fetched::Refused(why, _) => {
            tracing::warn!(kind = kind.code(), why, "search failed");
            Cycle::Searched(kind, enriched, missed)
        }
        Fetched::Document(_) | Fetched::NotModified(_) => {
            tracing::info!(kind = kind.code(), enriched, missed, "searched");
            Cycle::Searched(kind, enriched, missed)
        }
    }))
}

/// The sooner of `next`, which knows of requests for one, and of the next search.
///
/// # Errors
/// When the database does not answer.
pub async fn sooner(app: &App, conn: &mut PgConnection, next: Next) -> Result<Next, FeedError> {
    Ok(match (next, chosen(app, conn, None).await?) {
        (next, None) => next,
        (_, Some(Chosen { denial: None, .. })) => Next::Now,
        (Next::At(at), Some(Chosen { denial: Some(Denial { until: Some(until), .. }), .. })) => {
            Next::At(at.min(until))
        }
        (Next::AfterThePoll, Some(Chosen { denial: Some(Denial { until: Some(until), .. }), .. })) => {
            Next::At(until)
        }
        (next, Some(_)) => next,
    })
}

/// What would be searched for next, and why it may not be now.
struct Chosen {
    choice: Choice,
    denial: Option<Denial>,
}

async fn chosen(app: &App, conn: &mut PgConnection, only: Option<Kind>) -> Result<Option<Chosen>, FeedError> {
    let Some(search) = &app.search else { return Ok(None) };
    let there: Vec<bool> = sqlx::query_scalar(include_str!("../../queries/enrich/can_search.sql"))
        .bind(interval(app.config.eligible_for))
        .bind(NAMES[0])
        .bind(NAMES[1])
        .fetch_all(&mut *conn)
        .await
        .doing("looking for what can be searched for")?;
    let (ledger, now) = search.read(conn, None).await?;
    let facts = Kind::ALL.map(|kind| facts(app, &ledger, kind, there.get(kind.index()) == Some(&true)));
    let Some(choice) = choose(facts, only) else { return Ok(None) };
    let lane = plan::search_lane(search.plan(), choice.kind);
    let denial = match fetch::pause(app, conn).await? {
        Some(denial) => Some(denial),
        None => summary::denial(search.plan(), &ledger, lane, choice.borrow, now),
    };
    Ok(Some(Chosen { choice, denial }))
}

fn facts(app: &App, ledger: &Ledger, kind: Kind, new: bool) -> Facts {
    let plan = &app.config.search_plan;
    let (used, guarantee) = summary::share(plan, ledger, plan::search_lane(plan, kind));
    Facts { new, unenriched: new, used, guarantee, stale: false }
}

async fn lease(worker: &mut Worker<'_>, kind: Kind) -> Result<Vec<Sought>, FeedError> {
    let config = &worker.app.config;
    let mut sought: Vec<Sought> = sqlx::query_as(include_str!("../../queries/enrich/lease_batch.sql"))
        .bind(kind.code())
        .bind(interval(config.eligible_for))
        .bind(interval(config.lease()))
        .bind(NAMES[kind.index()])
        .bind(i64::from(config.search_batch))
        .fetch_all(&mut worker.conn)
        .await
        .doing("leasing a batch")?;
    sought.sort_unstable_by_key(|sought| sought.leased.id);
    Ok(sought)
}

/// Names in it need no escape: others are not leased.
fn address(kind: Kind, sought: &[Sought]) -> Result<ApiUrl, FeedError> {
    let (folder, qualifier) = match kind {
        Kind::Actor => ("users", "user"),
        Kind::Repository => ("repositories", "repo"),
    };
    let mut path = format!("/search/{folder}?per_page={}&q=", sought.len());
    for (n, sought) in sought.iter().enumerate() {
        let plus = if n == 0 { "" } else { "+" };
        let _ = write!(path, "{plus}{qualifier}:{}", sought.name);
    }
    ApiUrl::redirect(&path).map_err(|refusal| FeedError::failed(format!("a search's address: {refusal}")))
}

/// What becomes of each. A search that failed says nothing of anybody; whoever is asked for alone then has a failure of his own.
fn outcomes(fetched: &Fetched, sought: &[Sought]) -> Vec<Outcome> {
    let all = |outcome: Outcome| vec![outcome; sought.len()];
    match fetched {
        Fetched::Document(response) => {
            let items =
                serde_json::from_slice::<Found<'_>>(&response.body).map_or(vec![], |found| found.items);
            let of = |sought: &Sought| {
                items.iter().find_map(|item| document::check(item.get().as_bytes(), sought.leased.id).ok())
            };
            sought.iter().map(|sought| of(sought).map_or(Outcome::NotFound, Outcome::Complete)).collect()
        }
        Fetched::SecondaryLimit(told) => {
            all(Outcome::Delayed(told.unwrap_or_default().clamp(WAIT.0, WAIT.1)))
        }
        Fetched::Failed(_, Some(told)) => all(Outcome::Delayed((*told).clamp(WAIT.0, WAIT.1))),
        Fetched::Failed(_, None) | Fetched::Refused(..) | Fetched::NotModified(_) => all(Outcome::NotFound),
        Fetched::PrimaryLimit | Fetched::Deferred(_) => all(Outcome::Restored),
    }
}
