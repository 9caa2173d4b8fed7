//! Building a policy in Rust.

use std::sync::Arc;

use super::check;
use super::fairness::FairnessBuilder;
use super::gate_builder::{AdaptiveBuilder, ConcurrencyBuilder, GateDraft, ThrottleBuilder};
use super::key::Key;
use super::{Policy, Problems};
use crate::context::Context;
use crate::definition::{Dedupe, Definition, HalfLife, Retry};

/// A policy being written. [`PolicyBuilder::build`] checks everything and reports every problem.
///
/// ```
/// use std::time::Duration;
/// use fairgate_core::Policy;
///
/// let policy = Policy::builder("webhooks")
///     .queue("main")
///     .partition_by("account_id")
///     .throttle(|t| t.rate_from("rate_limit", 60.0).per(Duration::from_secs(60)).burst(10.0))
///     .concurrency(|c| c.max_from("max_per_account", 5.0))
///     .build()?;
/// assert_eq!(policy.gates().len(), 2);
/// # Ok::<(), fairgate_core::Problems>(())
/// ```
#[derive(Debug, Clone)]
pub struct PolicyBuilder {
    pub(super) name: String,
    pub(super) queue: Option<String>,
    pub(super) partition_by: Option<KeyDraft>,
    pub(super) shard_by: Option<KeyDraft>,
    pub(super) retry: Option<Retry>,
    pub(super) max_pending: Option<u32>,
    pub(super) dedupe: Option<Dedupe>,
    pub(super) fairness: FairnessBuilder,
    pub(super) gates: Vec<GateDraft>,
    pub(super) admission_batch_size: Option<u32>,
    pub(super) fairness_half_life: Option<HalfLife>,
    pub(super) tick_admission_budget: Option<u32>,
}

#[derive(Debug, Clone)]
pub(super) enum KeyDraft {
    Source(String),
    Ready(Key),
}

impl PolicyBuilder {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            queue: None,
            partition_by: None,
            shard_by: None,
            retry: None,
            max_pending: None,
            dedupe: None,
            fairness: FairnessBuilder::recent(),
            gates: Vec::new(),
            admission_batch_size: None,
            fairness_half_life: None,
            tick_admission_budget: None,
        }
    }

    pub(super) fn of(name: &str, definition: Definition) -> Self {
        Self {
            name: name.to_owned(),
            queue: Some(definition.queue.into()),
            partition_by: Some(KeyDraft::Ready(definition.partition_by.into())),
            shard_by: definition.shard_by.map(|key| KeyDraft::Ready(key.into())),
            retry: definition.retry,
            max_pending: definition.max_pending,
            dedupe: definition.dedupe,
            fairness: definition.fairness.into(),
            gates: definition.gates.into_iter().map(GateDraft::from).collect(),
            admission_batch_size: definition.admission_batch_size,
            fairness_half_life: definition.fairness_half_life,
            tick_admission_budget: definition.tick_admission_budget,
        }
    }

    /// The queue that admitted jobs go to, by its name in the configuration. Required.
    #[must_use]
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.queue = Some(name.into());
        self
    }

    /// What makes a partition: a context path (`account.id`) or a template (`acct:{account.id}`). Required.
    #[must_use]
    pub fn partition_by(mut self, template: impl Into<String>) -> Self {
        self.partition_by = Some(KeyDraft::Source(template.into()));
        self
    }

    /// The same, computed. The closure must be pure. Other languages cannot stage to such a policy without a key.
    #[must_use]
    pub fn partition_by_fn(mut self, compute: impl Fn(&Context) -> String + Send + Sync + 'static) -> Self {
        self.partition_by = Some(KeyDraft::Ready(Key::Computed(Some(Arc::new(compute)))));
        self
    }

    /// What groups partitions for one ticker: a context path or a template. Left out, the shard is `default`.
    #[must_use]
    pub fn shard_by(mut self, template: impl Into<String>) -> Self {
        self.shard_by = Some(KeyDraft::Source(template.into()));
        self
    }

    /// The same, computed. The closure must be pure.
    #[must_use]
    pub fn shard_by_fn(mut self, compute: impl Fn(&Context) -> String + Send + Sync + 'static) -> Self {
        self.shard_by = Some(KeyDraft::Ready(Key::Computed(Some(Arc::new(compute)))));
        self
    }

    /// What happens to a failed attempt. Left out: restage where the queue shows failures, else bypass.
    #[must_use]
    pub const fn retry(mut self, retry: Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Jobs of a partition that may wait, ready and scheduled ones; at least 1. Past it, staging fails. Retries do not count against it.
    #[must_use]
    pub const fn max_pending(mut self, jobs: u32) -> Self {
        self.max_pending = Some(jobs);
        self
    }

    /// How long a job holds its dedupe key, and what becomes of another with the same key.
    #[must_use]
    pub const fn dedupe(mut self, dedupe: Dedupe) -> Self {
        self.dedupe = Some(dedupe);
        self
    }

    /// How its partitions share. Default: by recent activity.
    #[must_use]
    pub fn fairness(mut self, fairness: FairnessBuilder) -> Self {
        self.fairness = fairness;
        self
    }

    /// Adds a throttle: at most so many jobs per time.
    #[must_use]
    pub fn throttle(mut self, set: impl FnOnce(ThrottleBuilder) -> ThrottleBuilder) -> Self {
        let gate = set(ThrottleBuilder::default());
        self.gates.push(GateDraft::Throttle(gate));
        self
    }

    /// Adds a concurrency gate: at most so many jobs in flight.
    #[must_use]
    pub fn concurrency(mut self, set: impl FnOnce(ConcurrencyBuilder) -> ConcurrencyBuilder) -> Self {
        let gate = set(ConcurrencyBuilder::default());
        self.gates.push(GateDraft::Concurrency(gate));
        self
    }

    /// Adds an adaptive concurrency gate: a cap on jobs in flight that follows their lag.
    #[must_use]
    pub fn adaptive_concurrency(mut self, set: impl FnOnce(AdaptiveBuilder) -> AdaptiveBuilder) -> Self {
        let gate = set(AdaptiveBuilder::default());
        self.gates.push(GateDraft::Adaptive(gate));
        self
    }

    /// Jobs a partition may get in one look when there is no tick budget; at least 1.
    #[must_use]
    pub const fn admission_batch_size(mut self, jobs: u32) -> Self {
        self.admission_batch_size = Some(jobs);
        self
    }

    /// How fast recent activity is forgotten.
    #[must_use]
    pub const fn fairness_half_life(mut self, half_life: HalfLife) -> Self {
        self.fairness_half_life = Some(half_life);
        self
    }

    /// Jobs that one tick of the policy may admit; at least 1.
    #[must_use]
    pub const fn tick_admission_budget(mut self, jobs: u32) -> Self {
        self.tick_admission_budget = Some(jobs);
        self
    }

    /// The policy, or every problem with it.
    pub fn build(self) -> Result<Policy, Problems> {
        check::policy(self)
    }
}
