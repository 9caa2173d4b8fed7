//! `/metrics`: numbers in Prometheus' text format. Labels are policies, queues, reasons and kinds of hints: never a partition, a job or a text of a tenant.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use fairgate::observe::{self, PolicyNumbers, QueueStatus, Status};
use fairgate_core::hint::{CODES, Hint};

use crate::admin::Shared;
use crate::failure::Failure;

/// Every metric: name and what it says. All are gauges.
pub const METRICS: [(&str, &str); 20] = [
    ("fairgate_enabled", "Whether fairgate is enabled (1) or not (0)."),
    ("fairgate_tickers", "Tickers that were seen in the last minute."),
    ("fairgate_reports", "Reports that wait to be absorbed into the counters."),
    (
        "fairgate_policy_admitting",
        "Whether a policy may admit (1): not paused, disabled or retired, its queue ready.",
    ),
    ("fairgate_partitions", "Partitions of a policy."),
    ("fairgate_waiting_partitions", "Partitions of a policy in which jobs wait."),
    ("fairgate_pending_jobs", "Jobs that wait and could go by their time."),
    ("fairgate_scheduled_jobs", "Jobs whose time is still to come."),
    ("fairgate_in_flight_jobs", "Jobs that were admitted and that their queue is not done with."),
    ("fairgate_quarantined_jobs", "Jobs that their queue refused for good."),
    ("fairgate_admitted_per_minute", "Jobs admitted in the last minute."),
    (
        "fairgate_arrived_per_minute",
        "Jobs that came a minute, over the last 5 minutes; absent while not known.",
    ),
    ("fairgate_denied_looks_per_minute", "Looks of the last minute that admitted nothing, by reason."),
    ("fairgate_refused_jobs_5m", "What the queue refused in the last 5 minutes."),
    ("fairgate_oldest_wait_seconds", "How long the oldest ready job has waited; 0 when none waits."),
    ("fairgate_slowest_tick_seconds", "The slowest tick of the last minute."),
    (
        "fairgate_look_age_seconds",
        "Time since the last look of partitions in which jobs wait, by quantile (0.5, 0.95, 1).",
    ),
    ("fairgate_queue_ready", "Whether a queue takes jobs (1)."),
    (
        "fairgate_queue_waiting_jobs",
        "Jobs in a queue that no worker has begun, counted where the queue has a limit.",
    ),
    ("fairgate_hints", "Hints in force, by kind."),
];

/// Policies that are shown one by one; the rest is added up under this name.
const SHOWN: usize = 200;
const REST: &str = "(others)";

pub(crate) async fn metrics(State(admin): State<Shared>) -> Result<Response, Failure> {
    let mut conn = admin.connection().await?;
    let mut tx = observe::reading(&mut conn).await?;
    let status = observe::status(&mut tx).await?;
    let numbers = observe::policy_numbers(&mut tx).await?;
    let queues = observe::queues(&mut tx).await?;
    let hints = observe::hints(&mut tx, admin.engine(), &status, &numbers).await?;
    let now = observe::now(&mut tx).await?;
    drop(tx);
    let text = text(&status, &numbers, &queues, &hints, now);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

/// A sample: metric, labels, value.
type Sample = (&'static str, String, f64);

fn text(
    status: &Status,
    numbers: &[PolicyNumbers],
    queues: &[QueueStatus],
    hints: &[Hint],
    now: chrono::DateTime<chrono::Utc>,
) -> String {
    let mut samples = vec![
        ("fairgate_enabled", String::new(), flag(status.enabled)),
        ("fairgate_tickers", String::new(), status.tickers as f64),
        ("fairgate_reports", String::new(), status.reports as f64),
    ];
    for (place, policy) in status.policies.iter().enumerate() {
        let label = labels(&[("policy", if place < SHOWN { &policy.name } else { REST })]);
        let works = policy.enabled && !policy.paused && !policy.retired && policy.queue_ready;
        let oldest =
            policy.oldest_ready_at.map_or(0.0, |at| (now - at).num_milliseconds().max(0) as f64 / 1000.0);
        if place < SHOWN {
            samples.push(("fairgate_policy_admitting", label.clone(), flag(works)));
            samples.push(("fairgate_oldest_wait_seconds", label.clone(), oldest));
        }
        let counts = [
            ("fairgate_partitions", policy.partitions),
            ("fairgate_pending_jobs", policy.pending),
            ("fairgate_scheduled_jobs", policy.scheduled),
            ("fairgate_in_flight_jobs", policy.in_flight),
            ("fairgate_quarantined_jobs", policy.quarantined),
            ("fairgate_admitted_per_minute", policy.admitted_last_minute),
        ];
        samples.extend(counts.map(|(name, count)| (name, label.clone(), count as f64)));
        if place < SHOWN {
            for (reason, looks) in policy.denials_last_minute.as_object().into_iter().flatten() {
                let label = labels(&[("policy", &policy.name), ("reason", reason)]);
                samples.push(("fairgate_denied_looks_per_minute", label, looks.as_f64().unwrap_or(0.0)));
            }
        }
    }
    samples.extend(numbers.iter().take(SHOWN).flat_map(of_numbers));
    for queue in queues {
        let label = labels(&[("queue", &queue.name)]);
        samples.push(("fairgate_queue_ready", label.clone(), flag(queue.ready)));
        samples.push(("fairgate_queue_waiting_jobs", label, queue.waiting as f64));
    }
    for code in CODES {
        let given = hints.iter().filter(|hint| hint.code == code).count();
        samples.push(("fairgate_hints", labels(&[("code", code)]), given as f64));
    }
    write(samples)
}

fn of_numbers(numbers: &PolicyNumbers) -> Vec<Sample> {
    let label = labels(&[("policy", &numbers.name)]);
    let mut samples = vec![
        ("fairgate_waiting_partitions", label.clone(), numbers.waiting_partitions as f64),
        ("fairgate_refused_jobs_5m", label.clone(), numbers.failures_5m as f64),
        ("fairgate_slowest_tick_seconds", label.clone(), numbers.slowest_tick_ms / 1000.0),
    ];
    samples.extend(numbers.arrived_per_minute.map(|rate| ("fairgate_arrived_per_minute", label, rate)));
    let ages = [("0.5", numbers.look_age_p50), ("0.95", numbers.look_age_p95), ("1", numbers.look_age_max)];
    samples.extend(ages.into_iter().filter_map(|(quantile, age)| {
        let label = labels(&[("policy", &numbers.name), ("quantile", quantile)]);
        Some(("fairgate_look_age_seconds", label, age?))
    }));
    samples
}

/// Samples of one metric stand together, and those of the same labels are added up.
fn write(samples: Vec<Sample>) -> String {
    let mut text = String::new();
    for (name, help) in METRICS {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        let mut lines: Vec<(String, f64)> = Vec::new();
        for (_, label, value) in samples.iter().filter(|(of, _, _)| *of == name) {
            match lines.last_mut().filter(|(last, _)| last == label) {
                Some((_, sum)) => *sum += value,
                None => lines.push((label.clone(), *value)),
            }
        }
        for (label, value) in lines {
            let _ = writeln!(text, "{name}{label} {value}");
        }
    }
    text
}

fn labels(pairs: &[(&str, &str)]) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

const fn flag(on: bool) -> f64 {
    if on { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_the_same_labels_are_added_up_and_labels_are_escaped() {
        let label = labels(&[("policy", "a\"b\\c\nd")]);
        assert_eq!(label, r#"{policy="a\"b\\c\nd"}"#);
        let text =
            write(vec![("fairgate_partitions", label.clone(), 1.0), ("fairgate_partitions", label, 2.0)]);
        assert!(text.contains(r#"fairgate_partitions{policy="a\"b\\c\nd"} 3"#), "{text}");
    }
}
