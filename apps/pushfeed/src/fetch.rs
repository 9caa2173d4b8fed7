//! One document from GitHub: attempts, retries and redirects, each reserved anew behind the gate.

use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate::budget::{Answer, Ask, Borrow, Denial, DenialReason, Lane, Reserved, Verdict, request};
use sqlx::PgConnection;

use crate::app::{App, Worker};
use crate::error::FeedError;
use crate::github::{ApiRequest, ApiResponse, ApiUrl, Classified, Kind, classify};
use crate::ingest::run::Journal;
use crate::log;
use crate::plan::BUDGET;

/// What is fetched, on whose account.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Where from.
    pub url: ApiUrl,
    /// The validator of what is known.
    pub etag: Option<String>,
    /// The budget.
    pub purse: Purse,
    /// The account in it.
    pub lane: Lane,
    /// The word that rides through redirects and retries.
    pub borrow: Borrow,
}

/// GitHub's budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purse {
    /// Of an hour.
    Core,
    /// Of a minute; for searches alone.
    Search,
}

/// How it ended.
#[derive(Debug)]
pub enum Fetched {
    /// 200, with the address that answered.
    Document(ApiResponse),
    /// 304.
    NotModified(ApiResponse),
    /// It will not be better next time: why, and the status if GitHub gave one.
    Refused(String, Option<u16>),
    /// It may be better next time.
    Failed(String, Option<Duration>),
    /// The window is spent.
    PrimaryLimit,
    /// A pause was asked for.
    SecondaryLimit(Option<Duration>),
    /// Nothing, or nothing more, was sent.
    Deferred(Deferral),
}

/// Why nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deferral {
    /// The budget says no.
    Denied(Denial),
    /// Another request is on its way.
    GateBusy,
}

impl Deferral {
    /// Its code, which never changes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Denied(denial) => denial.reason.code(),
            Self::GateBusy => "gate_busy",
        }
    }

    /// When it ends, if that is known.
    #[must_use]
    pub fn until(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Denied(denial) => denial.until,
            Self::GateBusy => None,
        }
    }
}

/// Fetches. `journal` records the first contact, before it is made.
///
/// # Errors
/// When the database does not answer; what was debited stays.
pub async fn fetch(
    worker: &mut Worker<'_>,
    wish: Wish,
    journal: Option<&mut Journal>,
) -> Result<Fetched, FeedError> {
    let mut journal = journal;
    let (mut retries, mut redirects) = (worker.app.config.retries, worker.app.config.redirects);
    let mut wish = wish;
    let mut failure = None;
    loop {
        let attempted = match attempt(worker, &wish, journal.as_deref_mut()).await? {
            Ok(attempted) => attempted,
            // A failure that may not be tried again now is still what happened.
            Err(deferral) => return Ok(failure.unwrap_or(Fetched::Deferred(deferral))),
        };
        let (what, retry_after) = match attempted {
            Attempted::Lost(what) => (what, None),
            Attempted::Answered(response, classified) => match classified.kind {
                Kind::Document => return Ok(Fetched::Document(response)),
                Kind::NotModified => return Ok(Fetched::NotModified(response)),
                Kind::PrimaryLimit => return Ok(Fetched::PrimaryLimit),
                Kind::SecondaryLimit => return Ok(Fetched::SecondaryLimit(classified.retry_after)),
                Kind::Refused => return Ok(refused(response.status)),
                Kind::ServerError => (format!("GitHub answered {}", response.status), classified.retry_after),
                Kind::Redirect => {
                    if redirects == 0 {
                        return Ok(Fetched::Refused("too many redirects".to_owned(), None));
                    }
                    redirects -= 1;
                    match ApiUrl::redirect(response.headers.get("location").unwrap_or_default()) {
                        Ok(url) => wish.url = url,
                        Err(refusal) => {
                            return Ok(Fetched::Refused(format!("refused redirect: {refusal}"), None));
                        }
                    }
                    continue;
                }
            },
        };
        let failed = Fetched::Failed(what, retry_after);
        if retries == 0 || retry_after.is_some() {
            return Ok(failed);
        }
        retries -= 1;
        failure = Some(failed);
    }
}

fn refused(status: u16) -> Fetched {
    Fetched::Refused(format!("GitHub answered {status}"), Some(status))
}

enum Attempted {
    Answered(ApiResponse, Classified),
    Lost(String),
}

/// One request: gate, debit, send, reconcile. Whatever happens in between, the gate is left.
async fn attempt(
    worker: &mut Worker<'_>,
    wish: &Wish,
    journal: Option<&mut Journal>,
) -> Result<Result<Attempted, Deferral>, FeedError> {
    if !worker.locks.enter_gate(BUDGET, worker.app.config.gate_wait).await? {
        return Ok(Err(Deferral::GateBusy));
    }
    let done = behind_the_gate(worker, wish, journal).await;
    worker.locks.leave_gate().await?;
    done
}

async fn behind_the_gate(
    worker: &mut Worker<'_>,
    wish: &Wish,
    journal: Option<&mut Journal>,
) -> Result<Result<Attempted, Deferral>, FeedError> {
    let app = worker.app;
    let (budget, beside) = match (wish.purse, &app.search) {
        (Purse::Core, None) => (&app.budget, vec![]),
        (Purse::Core, Some(search)) => (&app.budget, vec![search]),
        (Purse::Search, Some(search)) => (search, vec![&app.budget]),
        (Purse::Search, None) => return Err(FeedError::failed("a search where SEARCH_BATCH_SIZE is 0")),
    };
    if let (Purse::Search, Some(denial)) = (wish.purse, pause(app, &mut worker.conn).await?) {
        return Ok(Err(Deferral::Denied(denial)));
    }
    let ask = Ask::new(budget.plan(), wish.lane, wish.borrow)
        .map_err(|error| FeedError::failed(error.to_string()))?;
    let reservation = match budget.reserve(&mut worker.conn, ask, None).await? {
        Reserved::Granted(reservation) => reservation,
        Reserved::Denied(denial) => return Ok(Err(Deferral::Denied(denial))),
    };
    log::changes(budget.name(), reservation.changes());
    if let Some(journal) = journal {
        journal.contact(&mut worker.conn).await?;
    }
    let asked = ApiRequest { url: wish.url.clone(), etag: wish.etag.clone() };
    let sent = request(reservation, &app.door, asked).await;
    let now = worker.now().await?;
    let (answer, attempted) = match sent.result {
        Ok(response) => {
            let classified = classify(&response, app.authenticated(), now);
            tracing::debug!(status = response.status, path = wish.url.path(), "answered");
            (classified.answer.clone(), Attempted::Answered(response, classified))
        }
        Err(error) => {
            tracing::warn!(error = %error, path = wish.url.path(), "no answer");
            (Answer { headers: None, verdict: Verdict::Unrelated }, Attempted::Lost(error.to_string()))
        }
    };
    let changes = budget.reconcile_beside(&mut worker.conn, sent.spent, &answer, &beside, None).await?;
    log::changes(budget.name(), &changes);
    Ok(Ok(attempted))
}

/// Why nothing may be searched although the search budget allows it: GitHub has asked for a pause, maybe of a program that does not search and so does
/// not know of that budget.
pub(crate) async fn pause(app: &App, conn: &mut PgConnection) -> Result<Option<Denial>, FeedError> {
    let (core, now) = app.budget.read(conn, None).await?;
    let block = core.blocked_at(now).filter(|_| core.secondary_streak > 0);
    Ok(block.map(|block| Denial { reason: DenialReason::GloballyBlocked, until: Some(block.until) }))
}
