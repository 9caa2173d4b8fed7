//! The engine's knobs, with their defaults.

use std::time::Duration;

use fairgate_core::definition::HalfLife;

/// How a ticker works. The defaults are good; every value is checked by [`Settings::problems`].
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Partitions looked at per policy and tick.
    pub partition_batch_size: u32,
    /// Jobs of one partition per tick, where no budget rules.
    pub admission_batch_size: u32,
    /// A pass over the policies that takes longer stops claiming.
    pub tick_max_duration: Duration,
    /// The longest sleep of a ticker that finds nothing to do.
    pub idle_pause: Duration,
    /// The pause between two passes that found something to do.
    pub busy_pause: Duration,
    /// How often the sweeps run.
    pub sweep_every: Duration,
    /// An empty partition is forgotten after this long without any job.
    pub partition_inactive_after: Duration,
    /// A slot whose holder has beaten before is freed after this long without a beat.
    pub inflight_stale_after: Duration,
    /// A slot whose job the queue no longer has is freed this long after its admission.
    pub inflight_queued_stale_after: Duration,
    /// How often the guard of a running job beats.
    pub heartbeat_interval: Duration,
    /// How long tick samples are kept.
    pub metrics_retention: Duration,
    /// How fast recent activity is forgotten.
    pub fairness_half_life: HalfLife,
    /// Jobs of one policy per tick, shared by its partitions.
    pub tick_admission_budget: Option<u32>,
    /// Jobs a second that the queue behind can take; shown beside the rate.
    pub throughput_target: Option<f64>,
    /// A job that the queue refused this often is set aside.
    pub max_forward_attempts: u16,
    /// Behind a pooler in transaction mode: no statement cache, no notifications.
    pub pooled: bool,
    /// Whether to listen for notifications; without, polling every `idle_pause` does the same later.
    pub notifications: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            partition_batch_size: 50,
            admission_batch_size: 100,
            tick_max_duration: Duration::from_secs(25),
            idle_pause: Duration::from_millis(500),
            busy_pause: Duration::ZERO,
            sweep_every: Duration::from_secs(30),
            partition_inactive_after: Duration::from_secs(24 * 3600),
            inflight_stale_after: Duration::from_secs(300),
            inflight_queued_stale_after: Duration::from_secs(3600),
            heartbeat_interval: Duration::from_secs(30),
            metrics_retention: Duration::from_secs(24 * 3600),
            fairness_half_life: HalfLife::Of(Duration::from_secs(60)),
            tick_admission_budget: None,
            throughput_target: None,
            max_forward_attempts: 5,
            pooled: false,
            notifications: true,
        }
    }
}

impl Settings {
    /// Everything that makes no sense, as (key, what is wrong and what to do). Empty: the settings are fine.
    #[must_use]
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let day = Duration::from_secs(24 * 3600);
        let mut number = |key, value: u32, max: u32| {
            if value == 0 || value > max {
                problems.push((key, format!("is {value}; give a number from 1 to {max}")));
            }
        };
        number("partition_batch_size", self.partition_batch_size, 10_000);
        number("admission_batch_size", self.admission_batch_size, 100_000);
        number("max_forward_attempts", u32::from(self.max_forward_attempts), 1_000);
        if let Some(budget) = self.tick_admission_budget {
            number("tick_admission_budget", budget, 1_000_000);
        }
        let mut time = |key, value: Duration, least: Duration, most: Duration| {
            if value < least || value > most {
                let (least, most) = (
                    fairgate_core::duration::format_duration(least),
                    fairgate_core::duration::format_duration(most),
                );
                problems.push((
                    key,
                    format!(
                        "is {}; give a time from {least} to {most}",
                        fairgate_core::duration::format_duration(value)
                    ),
                ));
            }
        };
        let millis = Duration::from_millis;
        time("tick_max_duration", self.tick_max_duration, millis(100), Duration::from_secs(3600));
        time("idle_pause", self.idle_pause, millis(1), Duration::from_secs(60));
        time("busy_pause", self.busy_pause, Duration::ZERO, Duration::from_secs(60));
        time("sweep_every", self.sweep_every, millis(10), day);
        time("partition_inactive_after", self.partition_inactive_after, Duration::ZERO, day * 3650);
        time("inflight_stale_after", self.inflight_stale_after, millis(10), day * 3650);
        time("inflight_queued_stale_after", self.inflight_queued_stale_after, Duration::ZERO, day * 3650);
        time("heartbeat_interval", self.heartbeat_interval, millis(10), day);
        time("metrics_retention", self.metrics_retention, Duration::from_secs(1), day * 3650);
        if let HalfLife::Of(half_life) = self.fairness_half_life {
            time("fairness_half_life", half_life, millis(1), day * 365);
        }
        if self.heartbeat_interval * 2 > self.inflight_stale_after {
            problems.push((
                "inflight_stale_after",
                "is less than two heartbeat_intervals, so one late beat would free the slot of a running job; raise it".to_owned(),
            ));
        }
        if let Some(target) = self.throughput_target.filter(|t| !(t.is_finite() && *t > 0.0)) {
            problems.push((
                "throughput_target",
                format!("is {target}; give a number of jobs a second above 0, or leave it out"),
            ));
        }
        problems
    }
}
