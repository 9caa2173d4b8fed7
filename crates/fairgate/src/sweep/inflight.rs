use chrono::{DateTime, Utc};
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::{Sweeper, interval};
use crate::error::{DatabaseError, Doing};
use crate::registry::RegisteredQueue;
use crate::settings::Settings;

/// Admissions asked about in one round.
const ROUND: usize = 1_000;
/// Rounds in one sweep and queue; the next sweep goes on from there.
const ROUNDS: usize = 20;

/// A slot is freed if and only if its holder has beaten and has not for `inflight_stale_after`.
pub(super) async fn free_silent(
    conn: &mut PgConnection,
    settings: &Settings,
    now: Option<DateTime<Utc>>,
) -> Result<i64, DatabaseError> {
    let mut freed = 0;
    loop {
        let batch: i64 = crate::sql::query_scalar(include_str!("../../queries/sweep/free_silent.sql"))
            .bind(interval(settings.inflight_stale_after))
            .bind(now)
            .fetch_one(&mut *conn)
            .await
            .doing("freeing silent slots")?;
        freed += batch;
        if batch < 1_000 {
            return Ok(freed);
        }
    }
}

impl Sweeper {
    /// A slot is freed if and only if it has never beaten, is `inflight_queued_stale_after` old, and the queue neither waits with nor runs its job.
    pub(super) async fn free_gone(
        &mut self,
        conn: &mut PgConnection,
        settings: &Settings,
        now: Option<DateTime<Utc>>,
    ) -> Result<i64, DatabaseError> {
        let mut freed = 0;
        for queue in RegisteredQueue::list(conn).await?.into_iter().filter(|queue| queue.ready) {
            let (id, Ok(live)) = (queue.id, queue.adapter(&self.queues).map(|adapter| adapter.live())) else {
                continue;
            };
            for _ in 0..ROUNDS {
                let (batch, done) = self.ask(conn, id, &live, settings, now).await?;
                freed += batch;
                if done {
                    break;
                }
            }
        }
        Ok(freed)
    }

    async fn ask(
        &mut self,
        conn: &mut PgConnection,
        queue_id: i32,
        live: &str,
        settings: &Settings,
        now: Option<DateTime<Utc>>,
    ) -> Result<(i64, bool), DatabaseError> {
        let place = self.places.get(&queue_id).copied().unwrap_or(Uuid::nil());
        let quiet: Vec<(Uuid, String)> =
            crate::sql::query_as(include_str!("../../queries/sweep/list_quiet_admissions.sql"))
                .bind(queue_id)
                .bind(interval(settings.inflight_queued_stale_after))
                .bind(now)
                .bind(place)
                .fetch_all(&mut *conn)
                .await
                .doing("listing quiet slots")?;
        let done = quiet.len() < ROUND;
        match quiet.last() {
            Some(last) if !done => self.places.insert(queue_id, last.0),
            _ => self.places.remove(&queue_id),
        };
        if quiet.is_empty() {
            return Ok((0, true));
        }
        let alive: Vec<Uuid> = crate::sql::query_scalar(AssertSqlSafe(live.to_owned()))
            .bind(quiet.iter().map(|q| q.0).collect::<Vec<_>>())
            .bind(quiet.iter().map(|q| q.1.as_str()).collect::<Vec<_>>())
            .fetch_all(&mut *conn)
            .await
            .doing("asking the queue about quiet slots")?;
        let alive: std::collections::HashSet<Uuid> = alive.into_iter().collect();
        let gone: Vec<Uuid> = quiet.iter().map(|q| q.0).filter(|id| !alive.contains(id)).collect();
        if gone.is_empty() {
            return Ok((0, done));
        }
        let sql = include_str!("../../queries/sweep/free_gone.sql");
        let freed = crate::sql::query_scalar(sql)
            .bind(gone)
            .fetch_one(conn)
            .await
            .doing("freeing slots of lost jobs")?;
        Ok((freed, done))
    }
}
