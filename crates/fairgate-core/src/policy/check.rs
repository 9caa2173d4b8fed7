//! From a draft to a policy: everything that can be wrong, found in one pass.

mod fairness;
mod gate;

use std::collections::BTreeMap;
use std::time::Duration;

use super::builder::{KeyDraft, PolicyBuilder};
use super::key::Key;
use super::{Policy, Problem, Problems, Rules};
use crate::definition::{Definition, HalfLife};
use crate::duration::format_duration;
use crate::gate::Gate;
use crate::id::{IdError, QueueName};
use crate::template::Template;

/// The longest `per`, `full_backoff` and half-life: ten years.
const LONGEST: Duration = Duration::from_secs(3_650 * 86_400);
/// The shortest: what looks again sooner is a busy loop.
const SHORTEST: Duration = Duration::from_millis(1);

/// The problems found so far.
#[derive(Default)]
struct Found(Vec<Problem>);

impl Found {
    fn add(&mut self, at: impl Into<String>, message: impl ToString) {
        let (at, message) = (at.into(), message.to_string());
        self.0.push(Problem { at, message });
    }

    /// The value, or `None` and a problem.
    fn keep<T, E: ToString>(&mut self, at: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.add(at, error)).ok()
    }

    /// The value, or `None` and the problem that it is missing.
    fn require<T>(&mut self, at: &str, value: Option<T>, example: &str) -> Option<T> {
        if value.is_none() {
            self.add(at, format!("it is missing; set it, for example {example}"));
        }
        value
    }

    fn duration(&mut self, at: &str, duration: Duration) {
        if duration < SHORTEST {
            let found = format_duration(duration);
            self.add(at, format!("{found} is too short; the shortest is 1ms"));
        } else if duration > LONGEST {
            let found = format_duration(duration);
            self.add(at, format!("{found} is too long; the longest is 3650d"));
        }
    }

    fn positive(&mut self, at: &str, number: Option<u32>) {
        if number == Some(0) {
            self.add(at, "it is 0, which would admit nothing; set at least 1, or leave it out");
        }
    }
}

pub(super) fn policy(draft: PolicyBuilder) -> Result<Policy, Problems> {
    let mut found = Found::default();
    let name = found.keep("name", draft.name.parse());
    let queue = found
        .require("queue", draft.queue, "queue = \"main\"")
        .and_then(|queue| found.keep::<QueueName, IdError>("queue", queue.parse()));
    let partition_by = found
        .require("partition_by", draft.partition_by, "partition_by = \"account_id\"")
        .and_then(|key| self::key(&mut found, "partition_by", key));
    let shard_by = draft.shard_by.and_then(|key| self::key(&mut found, "shard_by", key));
    let fairness = fairness::check(&mut found, draft.fairness);
    unique_names(&mut found, draft.gates.iter().map(gate::name));
    let gates: Vec<Gate> = draft.gates.into_iter().filter_map(|gate| gate::check(&mut found, gate)).collect();
    if draft.max_pending == Some(0) {
        found.add("max_pending", "it is 0, which would refuse every job; set at least 1, or leave it out");
    }
    found.positive("admission_batch_size", draft.admission_batch_size);
    found.positive("tick_admission_budget", draft.tick_admission_budget);
    if let Some(HalfLife::Of(half_life)) = draft.fairness_half_life {
        found.duration("fairness_half_life", half_life);
    }
    Problems::none_of(found.0)?;
    let whole = "without a problem every part is there";
    let partition_by = partition_by.expect(whole);
    let fairness = fairness.expect(whole);
    let definition = Definition {
        queue: queue.expect(whole),
        partition_by: partition_by.source(),
        shard_by: shard_by.as_ref().map(Key::source),
        retry: draft.retry,
        max_pending: draft.max_pending,
        dedupe: draft.dedupe,
        fairness: fairness.definition(),
        gates: gates.iter().map(Gate::definition).collect(),
        admission_batch_size: draft.admission_batch_size,
        fairness_half_life: draft.fairness_half_life,
        tick_admission_budget: draft.tick_admission_budget,
    };
    Ok(Policy(std::sync::Arc::new(Rules {
        name: name.expect(whole),
        definition,
        partition_by,
        shard_by,
        fairness,
        gates,
    })))
}

fn key(found: &mut Found, at: &str, draft: KeyDraft) -> Option<Key> {
    match draft {
        KeyDraft::Ready(key) => Some(key),
        KeyDraft::Source(source) => found.keep(at, Template::parse(&source)).map(Key::Template),
    }
}

/// Stored state follows the name, so two gates must not share one.
fn unique_names<'a>(found: &mut Found, names: impl Iterator<Item = &'a str>) {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_insert(0) += 1;
    }
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 1) {
        let message = format!("{count} gates are called {name}; give each its own `name`");
        found.add(format!("gates.{name}.name"), message);
    }
}
