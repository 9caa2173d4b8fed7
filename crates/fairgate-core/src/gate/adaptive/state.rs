//! The cap of a partition, and what was learnt about it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Knobs;
use super::numbers::Numbers;
use crate::gate::RawState;
use crate::gate::observation::{JobOutcome, Observation};
use crate::time::micros;

/// What rounding leaves of a product that is a whole number on paper: `0.29 * 100`.
const ROUNDING: f64 = 1e-9;

/// A stored cap. JSON: `{"cap": 12, "ewma": 830.5, "moved_at": .., "decreased": true, "limit_from": .., "limit_to": .., "backlog_from": ..}`:
/// jobs, milliseconds, then instants in microseconds since the epoch; what is not known is left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct State {
    cap: u64,
    /// The average lag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ewma: Option<f64>,
    /// The look at which the cap last changed. Jobs admitted at that look were admitted after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moved_at: Option<i64>,
    /// Whether the cap went down since it started, which ends the growth by half.
    #[serde(default)]
    decreased: bool,
    /// The looks of one backlog between which the cap held jobs back, first and last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit_from: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit_to: Option<i64>,
    /// The first of the looks that have left something waiting ever since; `None` when the last one left nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backlog_from: Option<i64>,
}

impl State {
    /// The cap of a new partition.
    pub(super) const fn new(numbers: &Numbers) -> Self {
        Self {
            cap: numbers.initial,
            ewma: None,
            moved_at: None,
            decreased: false,
            limit_from: None,
            limit_to: None,
            backlog_from: None,
        }
    }

    pub(super) fn read(state: &RawState) -> Option<Self> {
        state.read()
    }

    /// The cap in force: what it is, and at least the initial one while nothing is in flight, or nothing could be learnt any more.
    pub(super) fn effective(&self, in_flight: u64, numbers: &Numbers) -> u64 {
        let least = if in_flight == 0 { numbers.initial } else { 0 };
        numbers.bound(self.cap.max(least))
    }

    /// Begins anew at the initial cap where the last look left nothing waiting and all that it admitted has ended: what was learnt
    /// tells of another load. A larger cap stays.
    pub(super) fn restart(&mut self, numbers: &Numbers, now: DateTime<Utc>) {
        if self.backlog_from.is_none() && self.cap < numbers.initial {
            *self = Self { moved_at: self.moved_at.max(Some(micros(now))), ..Self::new(numbers) };
        }
    }

    /// Takes in one observation: its lag, and where it may move the cap, that. Without numbers the cap stays.
    pub(super) fn learn(
        &mut self,
        seen: &Observation,
        numbers: Option<&Numbers>,
        knobs: &Knobs,
        now: DateTime<Utc>,
    ) {
        if seen.outcome == JobOutcome::Ignored {
            return;
        }
        let failed = seen.outcome == JobOutcome::Failed;
        if !(failed && knobs.every_job) {
            self.average(seen.lag_ms, knobs.ewma_alpha);
        }
        let admitted_at = micros(seen.admitted_at);
        let stale = self.moved_at.is_some_and(|moved_at| admitted_at < moved_at);
        let Some(numbers) = numbers.filter(|_| knobs.every_job || !stale) else { return };
        let cap = if failed {
            scaled(self.cap, knobs.failure_decrease_factor)
        } else if self.ewma.unwrap_or(0.0) > numbers.target_lag_ms {
            scaled(self.cap, knobs.overload_decrease_factor)
        } else if knobs.every_job {
            self.cap.saturating_add(1)
        } else if self.was_limit_at(admitted_at) {
            self.cap.saturating_add(if self.decreased { 1 } else { (self.cap / 2).max(1) })
        } else {
            self.cap
        };
        self.move_to(numbers.bound(cap), now);
    }

    fn average(&mut self, lag_ms: f64, alpha: f64) {
        let ewma = self.ewma.map_or(lag_ms, |ewma| alpha.mul_add(lag_ms - ewma, ewma));
        self.ewma = Some(ewma.min(f64::MAX));
    }

    fn was_limit_at(&self, admitted_at: i64) -> bool {
        self.limit_from.is_some_and(|from| from <= admitted_at)
            && self.limit_to.is_some_and(|to| admitted_at <= to)
    }

    fn move_to(&mut self, cap: u64, now: DateTime<Utc>) {
        if cap != self.cap {
            self.decreased |= cap < self.cap;
            self.cap = cap;
            self.moved_at = self.moved_at.max(Some(micros(now)));
        }
    }

    /// Notes whether a look left jobs waiting, and whether it was the cap that held them.
    fn looked(&mut self, waiting: bool, full: bool, now: DateTime<Utc>) {
        if !waiting {
            self.backlog_from = None;
            return;
        }
        let now = micros(now).max(self.limit_to.unwrap_or(i64::MIN));
        let began = *self.backlog_from.get_or_insert(now);
        if full {
            self.limit_from = self.limit_from.filter(|&from| from >= began).or(Some(now));
            self.limit_to = Some(now);
        }
    }
}

/// `floor(cap * factor)`.
fn scaled(cap: u64, factor: f64) -> u64 {
    (cap as f64).mul_add(factor, ROUNDING).floor() as u64
}

/// A cap as it stood when it was asked, and what it saw.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(super) state: State,
    /// Slots that were free.
    pub(super) free: u64,
    /// Jobs that waited.
    pub(super) pending: u64,
}

impl Look {
    /// The state after `taken` jobs went.
    pub(in crate::gate) fn settled(&self, taken: u64, now: DateTime<Utc>) -> State {
        let mut state = self.state;
        state.looked(self.pending > taken, taken >= self.free, now);
        state
    }
}
