//! How things are, in numbers that are the ledger's and the tables' own.

mod view;

use chrono::{DateTime, Utc};
use fairgate::budget::{Lane, Ledger};
use serde::Serialize;
use sqlx::PgConnection;

use crate::app::App;
use crate::enrich::Kind;
use crate::enrich::pool::interval;
use crate::enrich::search;
use crate::enrich::summary::{self, Next};
use crate::error::{Doing, FeedError};
use crate::ingest::source::Source;
use crate::plan;
use crate::schedule::Schedule;

pub use view::{block, instant, next};

/// Everything at once. What is not known is null.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The database's clock.
    pub now: DateTime<Utc>,
    /// The source.
    pub source: SourceStatus,
    /// What the next poll waits for.
    pub schedule: Schedule,
    /// When it is due; null: now.
    pub next_poll_due: Option<DateTime<Utc>>,
    /// The budget.
    pub budget: BudgetStatus,
    /// The search budget; null: nothing is searched.
    pub search: Option<SearchStatus>,
    /// Events.
    pub events: Events,
    /// Actors.
    pub actors: Entities,
    /// Repositories.
    pub repositories: Entities,
    /// When something is enriched next.
    pub next_enrichment: Next,
}

/// The source.
#[derive(Debug, Serialize)]
pub struct SourceStatus {
    /// Its name.
    pub name: &'static str,
    /// Whether it is polled.
    pub enabled: bool,
    /// Why not.
    pub out_of_service: Option<String>,
    /// `idle` or `polling`.
    pub state: &'static str,
    /// When a poll last worked.
    pub latest_successful_run: Option<DateTime<Utc>>,
}

/// The budget's window.
#[derive(Debug, Serialize)]
pub struct BudgetStatus {
    /// Requests that the server allows.
    pub limit: Option<u32>,
    /// Requests that are left.
    pub remaining: Option<u32>,
    /// Requests that are never spent.
    pub reserve: u32,
    /// When the server resets it.
    pub reset_at: Option<DateTime<Utc>>,
    /// Until when nothing may be sent.
    pub blocked_until: Option<DateTime<Utc>>,
    /// Why.
    pub block_reason: Option<&'static str>,
    /// Polls.
    pub poll: Account,
    /// Enrichment as a whole.
    pub enrichment: Account,
    /// Actors' part of it.
    pub actor: Account,
    /// Repositories' part of it.
    pub repository: Account,
}

/// The search budget's window. A pause that GitHub asks for is the core budget's block too.
#[derive(Debug, Serialize)]
pub struct SearchStatus {
    /// Searches that are left.
    pub remaining: Option<u32>,
    /// When the server resets it.
    pub reset_at: Option<DateTime<Utc>>,
    /// Searches.
    pub used: Account,
}

/// What is spent, of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Requests spent in this window.
    pub used: u32,
    /// Requests that may be spent without borrowing.
    pub of: u32,
}

/// Events.
#[derive(Debug, Serialize, sqlx::FromRow)]
pub struct Events {
    /// Pushes.
    pub persisted: i64,
    /// Bad events, each body once.
    pub quarantined: i64,
    /// Whether a poll is under way, or was when its process died.
    #[serde(skip)]
    pub polling: bool,
}

/// Entities of a kind.
#[derive(Debug, Serialize, sqlx::FromRow)]
pub struct Entities {
    /// Never enriched.
    pub pending: i64,
    /// Enriched.
    pub complete: i64,
    /// Failed, to be tried again.
    pub retryable_failure: i64,
    /// Failed for good.
    pub permanent_failure: i64,
    /// Given up for want of budget.
    pub skipped_budget: i64,
    /// Seen in the coverage window.
    pub seen: i64,
    /// Enriched, of those.
    pub covered: i64,
    /// `covered / seen`; null when nothing was seen.
    pub coverage: Option<f64>,
    /// `yes`, `no` or `insufficient_sample`: whether at least half of what was first seen in the last hour is done with.
    pub keeping_up: String,
}

impl Status {
    /// Reads everything in one snapshot of the database. GitHub is not asked.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn read(app: &App, conn: &mut PgConnection) -> Result<Self, FeedError> {
        let config = &app.config;
        let source = Source::read(conn).await?;
        let (ledger, now) = app.budget.read(conn, None).await?;
        let events: Events = sqlx::query_as(include_str!("../queries/status/events.sql"))
            .fetch_one(&mut *conn)
            .await
            .doing("counting events")?;
        let actors = entities(conn, config, Kind::Actor).await?;
        let repositories = entities(conn, config, Kind::Repository).await?;
        let next = summary::next(conn, config, &ledger, now).await?;
        let next_enrichment = search::sooner(app, conn, next).await?;
        let search = match &app.search {
            Some(search) => Some(search_status(app, &search.read(conn, None).await?.0)),
            None => None,
        };
        let schedule = source.schedule(config, &ledger);
        Ok(Self {
            now,
            source: SourceStatus {
                name: crate::ingest::source::EVENTS,
                enabled: source.out_of_service.is_none(),
                out_of_service: source.out_of_service,
                state: if events.polling { "polling" } else { "idle" },
                latest_successful_run: source.last_succeeded_at,
            },
            next_poll_due: schedule.due_at().filter(|due| *due > now),
            schedule,
            budget: budget(app, &ledger, now),
            search,
            events,
            actors,
            repositories,
            next_enrichment,
        })
    }

    /// Actors or repositories.
    #[must_use]
    pub fn entities(&self, kind: Kind) -> &Entities {
        match kind {
            Kind::Actor => &self.actors,
            Kind::Repository => &self.repositories,
        }
    }
}

fn budget(app: &App, ledger: &Ledger, now: DateTime<Utc>) -> BudgetStatus {
    let plan = &app.config.plan;
    let window = &ledger.window;
    let limit = window.limit_or_planned(plan);
    let account = |lane: Lane| Account { used: window.used[lane.slot()], of: plan.guarantee(lane, limit) };
    let actor = plan::lane(plan, Kind::Actor);
    let block = ledger.blocked_at(now);
    BudgetStatus {
        limit: window.limit,
        remaining: window.remaining,
        reserve: plan.reserve(),
        reset_at: window.reset_at,
        blocked_until: block.map(|block| block.until),
        block_reason: block.map(|block| block.reason.code()),
        poll: account(plan::poll_lane(plan)),
        enrichment: Account { used: window.class_used(plan, actor), of: plan.allowance(actor, limit) },
        actor: account(actor),
        repository: account(plan::lane(plan, Kind::Repository)),
    }
}

fn search_status(app: &App, ledger: &Ledger) -> SearchStatus {
    let (plan, window) = (&app.config.search_plan, &ledger.window);
    let lane = plan::search_lane(plan, Kind::Actor);
    let of = plan.allowance(lane, window.limit_or_planned(plan));
    let used = Account { used: window.class_used(plan, lane), of };
    SearchStatus { remaining: window.remaining, reset_at: window.reset_at, used }
}

async fn entities(
    conn: &mut PgConnection,
    config: &crate::config::Config,
    kind: Kind,
) -> Result<Entities, FeedError> {
    sqlx::query_as(include_str!("../queries/status/entities.sql"))
        // Planned anew for these very times: how much the window holds decides by which index it is read.
        .persistent(false)
        .bind(kind.code())
        .bind(interval(config.coverage_over))
        .fetch_one(conn)
        .await
        .doing("counting entities")
}
