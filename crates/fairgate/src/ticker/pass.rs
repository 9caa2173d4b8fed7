use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use fairgate_core::fairness::weighted::LaneAdvance;
use fairgate_core::report::TickReport;
use sqlx::PgConnection;
use tokio_util::sync::CancellationToken;

use super::Ticker;
use crate::absorb::absorb;
use crate::error::DatabaseError;
use crate::lane::{OpenLane, Rules, RulesError, next_scheduled_wait, open_lanes};
use crate::scopes::wake::{wake, waking_policies};
use crate::sql::{Unit, scope};
use crate::tick::{TickError, Ticked, tick};

/// When a queue that has enough waiting jobs is looked at again: workers that begin some tell nobody.
const QUEUE_FULL_PAUSE: Duration = Duration::from_millis(50);

/// The rules of a policy as this ticker has them, or why it leaves the policy alone.
#[derive(Debug)]
pub(super) enum Loaded {
    Ready(Box<Rules>),
    LeftAlone { revision: i32 },
}

/// What one pass over the lanes did.
#[derive(Debug, Default)]
pub struct PassReport {
    /// The ticks, added up.
    pub ticks: TickReport,
    /// Lanes that were ticked.
    pub lanes: u32,
    /// Another pass may find more at once.
    pub busy: bool,
    /// What ended ticks of single lanes; the others were served.
    pub failed: Vec<DatabaseError>,
    /// Nothing can change by time alone before this has passed. Not looked for when `busy`.
    pub wait: Duration,
}

impl Ticker {
    /// One pass: absorbs, then ticks every due lane of what it serves once. `clock` replaces the database's clock, for tests.
    ///
    /// # Errors
    /// When the database does not answer. A lane whose queue is not ready, or whose closures are missing, is left alone and said in the log.
    pub async fn pass(
        &mut self,
        conn: &mut PgConnection,
        clock: Option<DateTime<Utc>>,
        stop: Option<&CancellationToken>,
    ) -> Result<PassReport, DatabaseError> {
        scope(self.settings.pooled, self.go_round(conn, clock, stop)).await
    }

    async fn go_round(
        &mut self,
        conn: &mut PgConnection,
        clock: Option<DateTime<Utc>>,
        stop: Option<&CancellationToken>,
    ) -> Result<PassReport, DatabaseError> {
        let began = Instant::now();
        let absorbed = absorb(conn, clock).await?;
        self.folded_since_vacuum += absorbed.folded;
        let mut report = PassReport { busy: absorbed.more, wait: Duration::MAX, ..PassReport::default() };
        if absorbed.scoped {
            self.wake_waiting(conn, clock, &mut report).await?;
        }
        let mut unit = Unit::begin(conn).await?;
        let lanes =
            open_lanes(&mut unit, clock, self.only_policy.as_deref(), self.only_shard.as_deref()).await?;
        unit.end().await?;
        let mut served = Vec::new();
        for lane in self.in_turn(&lanes) {
            // One lane at least, however long the reports took, so that every pass gets on.
            let late = report.lanes > 0 && began.elapsed() > self.settings.tick_max_duration;
            if late || stop.is_some_and(CancellationToken::is_cancelled) {
                break;
            }
            let sharers = sharers(&lanes, lane, &served);
            served.push(lane.shard_id);
            self.serve(conn, lane, sharers, clock, &mut report).await?;
        }
        // If nothing else went on, the fault is waited out.
        if report.lanes == 0
            && let Some(error) = report.failed.pop()
        {
            return Err(error);
        }
        if !report.busy {
            let mut unit = Unit::begin(conn).await?;
            if let Some(wait) = next_scheduled_wait(&mut unit, clock).await? {
                report.wait = report.wait.min(micros(wait));
            }
            unit.end().await?;
        }
        Ok(report)
    }

    /// The lanes, beginning behind the one that was served last.
    fn in_turn<'a>(&self, lanes: &'a [OpenLane]) -> impl Iterator<Item = &'a OpenLane> + use<'a> {
        let start = lanes.partition_point(|lane| lane.shard_id <= self.last_shard);
        let (before, behind) = lanes.split_at(start);
        behind.iter().chain(before)
    }

    /// Wakes those that wait for a scope which has room for them.
    async fn wake_waiting(
        &mut self,
        conn: &mut PgConnection,
        clock: Option<DateTime<Utc>>,
        report: &mut PassReport,
    ) -> Result<(), DatabaseError> {
        let mut unit = Unit::begin(conn).await?;
        let policies = waking_policies(&mut unit, clock, self.only_policy.as_deref()).await?;
        unit.end().await?;
        for policy in policies {
            if !policy.due {
                report.wait = report.wait.min(micros(policy.wait_us));
            } else if self.load(conn, &policy).await?
                && let Some(Loaded::Ready(rules)) = self.rules.get(&policy.policy_id)
            {
                wake(conn, rules, clock).await?;
            }
        }
        Ok(())
    }

    async fn serve(
        &mut self,
        conn: &mut PgConnection,
        lane: &OpenLane,
        sharers: u64,
        clock: Option<DateTime<Utc>>,
        report: &mut PassReport,
    ) -> Result<(), DatabaseError> {
        if !lane.queue_ready {
            let reason = lane.not_ready_reason.clone().unwrap_or_default();
            self.say(
                &format!("queue:{}", lane.queue),
                format!("queue \"{}\" is not ready, its jobs wait: {reason}", lane.queue),
            );
            return Ok(());
        }
        if !lane.due {
            report.wait = report.wait.min(micros(lane.wait_us));
            return Ok(());
        }
        self.last_shard = lane.shard_id;
        if !self.load(conn, lane).await? {
            return Ok(());
        }
        let Some(Loaded::Ready(rules)) = self.rules.get(&lane.policy_id) else { return Ok(()) };
        match tick(conn, rules, lane, sharers, &self.settings, clock).await {
            Ok(Ticked::Nothing) => Ok(()),
            Ok(Ticked::QueueFull) => {
                report.wait = report.wait.min(QUEUE_FULL_PAUSE);
                Ok(())
            }
            Ok(Ticked::Held(wait)) => {
                report.wait = report.wait.min(wait);
                Ok(())
            }
            Ok(Ticked::Done(done, advance)) => {
                tracing::debug!(
                    policy = lane.policy,
                    shard = lane.shard,
                    admitted = done.jobs_admitted,
                    seen = done.partitions_seen,
                    "tick"
                );
                report.ticks.merge(&done);
                report.lanes += 1;
                report.busy = true;
                match advance {
                    Some(advance) => self.advance(conn, lane.shard_id, advance).await,
                    None => Ok(()),
                }
            }
            Err(TickError::Outdated { .. }) => {
                self.rules.remove(&lane.policy_id);
                report.busy = true;
                Ok(())
            }
            Err(TickError::Queue { source, .. }) => self.queue_failed(conn, lane, &source).await,
            // The connection still works, so one lane's trouble, such as a queue's table that somebody holds, is not the others'.
            Err(TickError::Database(error)) if error.sqlstate().is_some() => {
                tracing::warn!(policy = lane.policy, shard = lane.shard, error = %error, "a tick failed; nothing is lost, going on with the next lane");
                report.failed.push(error);
                Ok(())
            }
            Err(TickError::Database(error)) => Err(error),
        }
    }

    /// Adds to a lane's virtual time, with what could not be added before.
    async fn advance(
        &mut self,
        conn: &mut PgConnection,
        shard_id: i32,
        advance: LaneAdvance,
    ) -> Result<(), DatabaseError> {
        let carried = self.carried.entry(shard_id).or_default();
        carried.merge(advance);
        if crate::share::advance(conn, shard_id, carried).await? {
            self.carried.remove(&shard_id);
        }
        Ok(())
    }

    /// Makes sure that the rules in hand are those in force. False: this ticker leaves the policy alone.
    async fn load(&mut self, conn: &mut PgConnection, lane: &OpenLane) -> Result<bool, DatabaseError> {
        match self.rules.get(&lane.policy_id) {
            Some(Loaded::Ready(rules))
                if rules.revision == lane.revision && rules.queue_identity == lane.queue_identity =>
            {
                return Ok(true);
            }
            Some(Loaded::LeftAlone { revision }) if *revision == lane.revision => return Ok(false),
            _ => {}
        }
        let mut unit = Unit::begin(conn).await?;
        let loaded = Rules::load(&mut unit, lane.policy_id, &self.own_policies, &self.own_queues).await;
        unit.end().await?;
        match loaded {
            Ok(rules) => {
                self.rules.insert(lane.policy_id, Loaded::Ready(Box::new(rules)));
                Ok(true)
            }
            Err(RulesError::Database(error)) => Err(error),
            Err(other) => {
                self.say(&format!("policy:{}", lane.policy), format!("leaving a policy alone: {other}"));
                self.rules.insert(lane.policy_id, Loaded::LeftAlone { revision: lane.revision });
                Ok(false)
            }
        }
    }

    /// The queue's tables refused the tick as a whole: its jobs wait, and the queue is looked at again every few seconds.
    async fn queue_failed(
        &mut self,
        conn: &mut PgConnection,
        lane: &OpenLane,
        error: &DatabaseError,
    ) -> Result<(), DatabaseError> {
        let reason = format!("its tables refused a hand-over: {}", error.message());
        self.say(
            &format!("queue:{}", lane.queue),
            format!("queue \"{}\" is not ready, its jobs wait: {reason}", lane.queue),
        );
        let mut unit = Unit::begin(conn).await?;
        crate::registry::set_not_ready(&mut unit, &lane.queue, &reason).await?;
        unit.end().await
    }

    /// Says a thing once, and again only when it changes.
    fn say(&mut self, about: &str, what: String) {
        if self.said.get(about) != Some(&what) {
            tracing::warn!("{what}");
            self.said.insert(about.to_owned(), what);
        }
    }
}

/// The looks that share what room the queue of a lane has: its due lanes that this pass has still to serve, in every ticker at work.
fn sharers(lanes: &[OpenLane], lane: &OpenLane, served: &[i32]) -> u64 {
    let left = lanes
        .iter()
        .filter(|other| other.due && other.queue == lane.queue && !served.contains(&other.shard_id));
    (left.count() as u64).saturating_mul(lane.tickers.max(1).unsigned_abs())
}

fn micros(wait: i64) -> Duration {
    Duration::from_micros(wait.max(0).unsigned_abs())
}
