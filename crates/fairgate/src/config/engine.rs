//! `[engine]`.

use super::findings::Findings;
use super::section::Section;
use crate::settings::Settings;

const KEYS: &[&str] = &[
    "partition_batch_size",
    "admission_batch_size",
    "tick_max_duration",
    "idle_pause",
    "busy_pause",
    "sweep_every",
    "partition_inactive_after",
    "inflight_stale_after",
    "inflight_queued_stale_after",
    "heartbeat_interval",
    "metrics_retention",
    "fairness_half_life",
    "tick_admission_budget",
    "throughput_target",
    "max_forward_attempts",
    "pooled",
    "notifications",
];

pub(super) fn read(section: &Section<'_>, found: &mut Findings<'_>) -> Settings {
    section.only(found, KEYS, &[]);
    let mut settings = Settings::default();
    numbers(&mut settings, section, found);
    durations(&mut settings, section, found);
    switches(&mut settings, section, found);
    for (key, message) in settings.problems() {
        let at = section.place(key);
        if !found.has(&at) {
            found.problem(section.offset_of(key), &at, message);
        }
    }
    settings
}

fn numbers(settings: &mut Settings, section: &Section<'_>, found: &mut Findings<'_>) {
    set(&mut settings.partition_batch_size, section.whole(found, "partition_batch_size", 1, 10_000));
    set(&mut settings.admission_batch_size, section.whole(found, "admission_batch_size", 1, 100_000));
    if let Some(budget) = section.whole(found, "tick_admission_budget", 1, 1_000_000) {
        settings.tick_admission_budget = Some(budget);
    }
    if let Some(node) = section.get("throughput_target") {
        settings.throughput_target = node.number(found);
    }
    let attempts = section.whole(found, "max_forward_attempts", 1, 1_000);
    set(&mut settings.max_forward_attempts, attempts.and_then(|attempts| u16::try_from(attempts).ok()));
}

fn durations(settings: &mut Settings, section: &Section<'_>, found: &mut Findings<'_>) {
    for (key, place) in [
        ("tick_max_duration", &mut settings.tick_max_duration),
        ("idle_pause", &mut settings.idle_pause),
        ("busy_pause", &mut settings.busy_pause),
        ("sweep_every", &mut settings.sweep_every),
        ("partition_inactive_after", &mut settings.partition_inactive_after),
        ("inflight_stale_after", &mut settings.inflight_stale_after),
        ("inflight_queued_stale_after", &mut settings.inflight_queued_stale_after),
        ("heartbeat_interval", &mut settings.heartbeat_interval),
        ("metrics_retention", &mut settings.metrics_retention),
    ] {
        set(place, section.duration(found, key));
    }
    if let Some(node) = section.get("fairness_half_life") {
        set(&mut settings.fairness_half_life, node.half_life(found));
    }
}

fn switches(settings: &mut Settings, section: &Section<'_>, found: &mut Findings<'_>) {
    if let Some(node) = section.get("pooled") {
        set(&mut settings.pooled, node.flag(found));
        if settings.pooled {
            let message = "notifications are off, tickers poll; `fairgate migrate` needs a direct URL";
            found.note(node.offset, &node.at, message);
        }
    }
    if let Some(node) = section.get("notifications") {
        set(&mut settings.notifications, node.flag(found));
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
