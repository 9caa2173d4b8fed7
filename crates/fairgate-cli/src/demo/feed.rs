//! The producer: replays the walk, page by page, until it is told to stop.

use std::sync::Arc;

use fairgate::{NewJob, Outcome, stage_many};
use sqlx::{Connection, PgConnection};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::pace::{self, PAGE_EVERY, REPLAY_EVERY, Watch};
use super::rules::Route;
use super::tenants::{Tenant, Tenants};
use super::walk::{Event, Walk};
use super::{database_error, record, workers};
use crate::error::CliError;

/// What was fed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fed {
    /// Times that the walk was begun.
    pub(super) replays: u64,
    /// Copies that were left out because they would not have been done in time.
    pub(super) left_out: u64,
}

/// Stages the walk again and again. A page that was begun is staged whole.
///
/// # Errors
/// When a job is refused, or the database does not answer.
pub(super) async fn run(
    mut conn: PgConnection,
    walk: Arc<Walk>,
    tenants: Arc<Tenants>,
    stop: CancellationToken,
) -> Result<Fed, CliError> {
    let mut fed = Fed::default();
    let mut planner = Planner::new(&tenants);
    let mut begin = Instant::now();
    loop {
        let mut at = begin;
        for (number, page) in walk.pages.iter().enumerate() {
            at += PAGE_EVERY;
            if stop.run_until_cancelled(sleep_until(at)).await.is_none() {
                return Ok(fed);
            }
            let plan = planner.plan(page);
            stage(&mut conn, &plan, &tenants).await?;
            fed.replays += u64::from(number == 0);
            fed.left_out += plan.left_out;
        }
        // After a stall the walk goes on at its pace instead of catching up at once.
        begin = (begin + REPLAY_EVERY).max(Instant::now());
    }
}

/// What is staged together.
struct Plan<'a> {
    /// Event, tenant, how many deliveries.
    deliveries: Vec<(&'a Event, usize, u32)>,
    left_out: u64,
}

/// Decides how many deliveries each event becomes, from what it sees of the backlogs.
struct Planner<'a> {
    tenants: &'a Tenants,
    begun: Instant,
    /// By the tenant's place.
    watches: Vec<Watch>,
    all: Watch,
}

impl<'a> Planner<'a> {
    fn new(tenants: &'a Tenants) -> Self {
        let watches = vec![Watch::default(); tenants.iter().len()];
        Self { tenants, begun: Instant::now(), watches, all: Watch::default() }
    }

    fn plan<'e>(&mut self, page: &'e [Event]) -> Plan<'e> {
        let now = self.begun.elapsed();
        let look = |(tenant, watch): (&Tenant, &mut Watch)| {
            watch.look(now, tenant.backlog(), tenant.received(), pace::expected(tenant.limit()))
        };
        let mut backlogs: Vec<_> = self.tenants.iter().zip(&mut self.watches).map(look).collect();
        let mut all =
            self.all.look(now, self.tenants.backlog(), self.tenants.received(), pace::expected_of_all());
        let mut plan = Plan { deliveries: Vec::new(), left_out: 0 };
        for event in page {
            let Some(place) = self.tenants.place(event.route, &event.owner) else { continue };
            let (Some(tenant), Some(backlog)) = (self.tenants.get(place), backlogs.get_mut(place)) else {
                continue;
            };
            let copies = pace::copies(tenant.factor(), *backlog, all);
            backlog.deliveries += u64::from(copies);
            all.deliveries += u64::from(copies);
            plan.left_out += u64::from(tenant.factor() - copies);
            plan.deliveries.push((event, place, copies));
        }
        plan
    }
}

/// Stages the deliveries, and records them, in one transaction.
async fn stage(conn: &mut PgConnection, plan: &Plan<'_>, tenants: &Tenants) -> Result<(), CliError> {
    const DOING: &str = "staging deliveries";
    let mut tx = conn.begin().await.map_err(database_error(DOING))?;
    for route in Route::ALL {
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        for (event, place, copies) in plan.deliveries.iter().filter(|(event, ..)| event.route == route) {
            let rank = tenants.get(*place).map_or(usize::MAX, |tenant| tenant.rank);
            let job = NewJob::new(workers::TASK)
                .payload_json(event.json)?
                .context(&route.context(&event.owner, rank))?;
            jobs.extend(std::iter::repeat_n(job, *copies as usize));
            places.extend(std::iter::repeat_n(*place, *copies as usize));
        }
        let staged = stage_many(&mut tx, route.policy(), &jobs).await?;
        if staged.iter().any(|answer| answer.outcome != Outcome::Staged) {
            return Err(CliError::failed("fairgate was disabled while the demo ran")
                .hint("`fairgate enable` enables it; then start the demo again"));
        }
        let rows: Vec<(Uuid, usize)> =
            staged.iter().map(|answer| answer.job_id.as_uuid()).zip(places).collect();
        record::staged(&mut tx, &rows).await?;
    }
    tx.commit().await.map_err(database_error(DOING))?;
    for (_, place, copies) in &plan.deliveries {
        if let Some(tenant) = tenants.get(*place) {
            tenant.add_staged(u64::from(*copies));
        }
    }
    Ok(())
}
