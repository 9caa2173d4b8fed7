//! What an operator should look at: numbers in, hints out. Every threshold is in [`Thresholds`], and nowhere else.

mod engine;
mod policy;

use std::time::Duration;

use serde::Serialize;

use crate::duration::format_duration;

/// From which numbers on a hint is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Part of `tick_max_duration` that the slowest tick of the last minute takes.
    pub slow_tick: f64,
    /// Jobs that wait, from which on the time to drain them is worth telling.
    pub backlog: i64,
    /// A backlog that drains sooner is left alone.
    pub drains_within: Duration,
    /// How many times as many jobs arrive as are admitted.
    pub outrun: f64,
    /// Batches or jobs that queues refused in the last 5 minutes.
    pub failures: i64,
    /// How long a partition with waiting jobs may go without its first look.
    pub first_look_within: Duration,
    /// Partitions of a policy.
    pub partitions: i64,
    /// Part of `throughput_target` that is admitted.
    pub near_target: f64,
    /// Part of the looks that one kind of denial makes up.
    pub mostly: f64,
    /// Denied looks of the last minute below which nothing is concluded from their kinds.
    pub looks: i64,
    /// Age of the oldest snapshot that keeps dead rows from being removed.
    pub old_snapshot: Duration,
}

/// Those in force.
pub const THRESHOLDS: Thresholds = Thresholds {
    slow_tick: 0.8,
    backlog: 1_000,
    drains_within: Duration::from_secs(600),
    outrun: 1.2,
    failures: 1,
    first_look_within: Duration::from_secs(60),
    partitions: 1_000_000,
    near_target: 0.9,
    mostly: 0.5,
    looks: 20,
    old_snapshot: Duration::from_secs(300),
};

/// How urgent a hint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Look at it.
    Warning,
    /// Jobs wait that should not.
    Problem,
}

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// Its kind, one of [`CODES`].
    pub code: &'static str,
    /// How urgent it is.
    pub severity: Severity,
    /// The policy it is about. None: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// What there is.
    pub found: String,
    /// What to do about it.
    pub advice: String,
}

/// Every kind of hint.
pub const CODES: [&str; 16] = [
    "disabled",
    "no_ticker",
    "policy_disabled",
    "policy_paused",
    "queue_not_ready",
    "slow_tick",
    "backlog_drains",
    "arrivals_outrun",
    "handover_failures",
    "quarantined",
    "never_checked",
    "many_partitions",
    "near_target",
    "gates_hold",
    "few_workers",
    "old_snapshot",
];

/// The engine at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EngineFacts {
    /// The engine-wide switch.
    pub enabled: bool,
    /// Tickers that were seen in the last minute.
    pub tickers: i64,
    /// After which a tick stops claiming.
    pub tick_max: Duration,
    /// Jobs a second that the queue behind can take, if anybody said so.
    pub target: Option<f64>,
    /// The oldest snapshot that somebody holds: its age and whose it is.
    pub oldest_snapshot: Option<(Duration, String)>,
}

/// A policy at one moment. Rates are per minute.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicyFacts {
    /// Its name.
    pub name: String,
    /// Its own switch.
    pub enabled: bool,
    /// Paused.
    pub paused: bool,
    /// No longer in the configuration.
    pub retired: bool,
    /// Why its queue takes no jobs, if it takes none.
    pub queue_problem: Option<String>,
    /// Jobs that wait and could go by their time.
    pub pending: i64,
    /// Partitions that exist.
    pub partitions: i64,
    /// Jobs that its queue refused for good.
    pub quarantined: i64,
    /// Jobs admitted a minute, over the last 5 minutes.
    pub admitted: f64,
    /// Jobs that arrived a minute, over the last 5 minutes; none where that is not known.
    pub arrived: Option<f64>,
    /// What the queue refused in the last 5 minutes.
    pub failures: i64,
    /// The slowest tick of the last minute.
    pub slowest_tick: Duration,
    /// Partitions with waiting jobs that were never looked at, and are older than the threshold.
    pub never_checked: i64,
    /// Denied looks of the last minute, by a gate.
    pub gate_denials: i64,
    /// Denied looks of the last minute, because the queue holds enough that no worker has begun.
    pub queue_denials: i64,
}

/// Everything worth a look, the most urgent first.
#[must_use]
pub fn hints(engine: &EngineFacts, policies: &[PolicyFacts], limits: &Thresholds) -> Vec<Hint> {
    let mut hints = engine::hints(engine, policies, limits);
    for one in policies.iter().filter(|one| !one.retired || one.pending > 0) {
        hints.extend(policy::hints(engine, one, limits));
    }
    hints.sort_by_key(|hint| std::cmp::Reverse(hint.severity));
    hints
}

impl Hint {
    fn new(
        code: &'static str,
        severity: Severity,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { code, severity, policy: None, found: found.into(), advice: advice.into() }
    }

    fn of(self, policy: &PolicyFacts) -> Self {
        Self { policy: Some(policy.name.clone()), ..self }
    }
}

/// A duration in whole seconds, or milliseconds below one.
fn spoken(duration: Duration) -> String {
    let whole = match duration.as_secs() {
        0 => Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
        seconds => Duration::from_secs(seconds),
    };
    format_duration(whole)
}
