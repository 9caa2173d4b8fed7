//! The producer: replays the walk, page by page, until it is told to stop.

use std::sync::Arc;

use fairgate::{NewJob, Outcome, stage_many};
use sqlx::{Connection, PgConnection};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::pace::{self, PAGE_EVERY, REPLAY_EVERY};
use super::rules::Route;
use super::tenants::Tenants;
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
    let mut begin = Instant::now();
    loop {
        let mut at = begin;
        for (number, page) in walk.pages.iter().enumerate() {
            at += PAGE_EVERY;
            if stop.run_until_cancelled(sleep_until(at)).await.is_none() {
                return Ok(fed);
            }
            fed.replays += u64::from(number == 0);
            fed.left_out += stage_page(&mut conn, page, &tenants).await?;
        }
        // After a stall the walk goes on at its pace instead of catching up at once.
        begin = (begin + REPLAY_EVERY).max(Instant::now());
    }
}

/// Stages the deliveries of a page, and records them, in one transaction. Returns how many copies it left out.
async fn stage_page(conn: &mut PgConnection, page: &[Event], tenants: &Tenants) -> Result<u64, CliError> {
    const DOING: &str = "staging deliveries";
    let planned = plan(page, tenants);
    let mut tx = conn.begin().await.map_err(database_error(DOING))?;
    for route in Route::ALL {
        let mut jobs = Vec::new();
        let mut places = Vec::new();
        for (event, place, copies) in planned.deliveries.iter().filter(|(event, ..)| event.route == route) {
            let rank = tenants.get(*place).map_or(usize::MAX, |tenant| tenant.rank);
            let job = NewJob::new(workers::TASK)
                .payload_json(event.json)?
                .context(&route.context(&event.owner, rank))?;
            jobs.extend(std::iter::repeat_n(job, *copies));
            places.extend(std::iter::repeat_n(*place, *copies));
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
    for (_, place, copies) in planned.deliveries {
        if let Some(tenant) = tenants.get(place) {
            tenant.add_staged(copies as u64);
        }
    }
    Ok(planned.left_out)
}

struct Planned<'a> {
    /// Event, tenant, how many deliveries.
    deliveries: Vec<(&'a Event, usize, usize)>,
    left_out: u64,
}

fn plan<'a>(page: &'a [Event], tenants: &Tenants) -> Planned<'a> {
    let mut planned = Planned { deliveries: Vec::new(), left_out: 0 };
    let mut whole = tenants.backlog();
    for event in page {
        let Some(place) = tenants.place(event.route, &event.owner) else { continue };
        let Some(tenant) = tenants.get(place) else { continue };
        let of_this_page: usize =
            planned.deliveries.iter().filter(|(_, at, _)| *at == place).map(|(.., copies)| copies).sum();
        let backlog = tenant.backlog() + of_this_page as u64;
        let copies = pace::copies(tenant.factor(), tenant.limit(), backlog, whole);
        whole += u64::from(copies);
        planned.left_out += u64::from(tenant.factor() - copies);
        planned.deliveries.push((event, place, copies as usize));
    }
    planned
}
