//! The policies under torture, and the limits that keep changing: by definition here, by context with every stage.

use std::time::Duration;

use fairgate::Policy;
use fairgate::queue::GraphileWorker;
use fairgate::registry::QueueSpec;
use fairgate_core::definition::{Dedupe, DedupeUntil, HalfLife, OnConflict, Retry};
use fairgate_core::fairness::weighted::Cost;
use fairgate_core::policy::FairnessBuilder;
use serde_json::{Value, json};

use super::random::Random;

/// The names of the policies: a cap, a throttle with a cap, no gates at all, a cap that tunes itself beside a shadow gate, and gates that accounts
/// and the whole policy share.
pub(super) const NAMES: [&str; 5] = ["capped", "metered", "free", "learning", "shared"];
/// Tenants that always have something to do.
const HOT: usize = 10;
/// Tenants that come and go, so that their partitions are removed and come back.
const COLD: usize = 300;

/// The queue behind the policies.
pub(super) fn queue() -> QueueSpec {
    let queue = GraphileWorker::new("graphile_worker").expect("a name");
    QueueSpec { name: "main".parse().expect("a name"), queue: std::sync::Arc::new(queue), max_waiting: None }
}

/// What an operator changes about the policies.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    backoff: Duration,
    fixed: bool,
    max: f64,
    per: Duration,
    rate: f64,
    burst: Option<f64>,
    half_life: HalfLife,
    batch: u32,
    weighted: bool,
}

impl Rules {
    /// Limits that come from the contexts, and a short back-off.
    pub(super) const fn plain() -> Self {
        Self {
            backoff: Duration::from_millis(50),
            fixed: false,
            max: 5.0,
            per: Duration::from_millis(500),
            rate: 40.0,
            burst: None,
            half_life: HalfLife::None,
            batch: 100,
            weighted: false,
        }
    }

    /// Others each time.
    pub(super) fn drawn(random: &mut Random) -> Self {
        Self {
            // One longer than anybody waits shows a finish that woke nobody.
            backoff: random.pick(&[50, 1_000, 600_000].map(Duration::from_millis)),
            fixed: random.chance(0.3),
            max: random.pick(&[1.0, 2.0, 3.0, 5.0]),
            per: random.pick(&[250, 500, 1_000].map(Duration::from_millis)),
            rate: random.pick(&[5.0, 12.5, 40.0]),
            burst: random.pick(&[None, Some(1.0), Some(8.0)]),
            half_life: random.pick(&[HalfLife::None, HalfLife::Of(Duration::from_secs(5))]),
            batch: random.pick(&[1, 7, 100]),
            weighted: random.chance(0.5),
        }
    }

    /// The policies with these rules.
    pub(super) fn policies(&self) -> Vec<Policy> {
        let policy = |name| Policy::builder(name).queue("main");
        let capped = policy(NAMES[0]).partition_by("tenant").shard_by("region").concurrency(|c| {
            let c = c.full_backoff(self.backoff);
            if self.fixed { c.max(self.max) } else { c.max_from("max", self.max) }
        });
        let metered = policy(NAMES[1])
            .partition_by("t:{tenant}")
            .throttle(|t| {
                let t = t.named("pace").rate_from("rate", self.rate).per(self.per);
                if let Some(burst) = self.burst { t.burst_from("burst", burst) } else { t }
            })
            .concurrency(|c| c.named("slots").max_from("max", self.max).full_backoff(self.backoff));
        // Its retries are the queue's own, and its keys are free once their jobs are admitted.
        let free = policy(NAMES[2])
            .partition_by("tenant")
            .retry(Retry::Bypass)
            .dedupe(Dedupe { until: DedupeUntil::Admitted, on_conflict: OnConflict::Keep })
            .fairness_half_life(self.half_life)
            .admission_batch_size(self.batch);
        let shares = FairnessBuilder::weighted().cost(Cost::Time).weight_from("max", Some(1.0));
        let free = if self.weighted { free.fairness(shares) } else { free };
        let learning = policy(NAMES[3])
            .partition_by("tenant")
            .adaptive_concurrency(|a| {
                a.named("cap").initial_max(2.0).target_lag_ms(20.0).full_backoff(self.backoff)
            })
            .throttle(|t| t.named("shadow").rate(1.0).per(self.per).shadow(true));
        let shared = policy(NAMES[4])
            .partition_by("tenant")
            .shard_by("region")
            .concurrency(|c| c.named("own").max_from("max", self.max).full_backoff(self.backoff))
            .concurrency(|c| {
                c.named("account").scope("account").max_from("account_max", 4.0).full_backoff(self.backoff)
            })
            .throttle(|t| t.named("pace").scope("account").rate_from("rate", self.rate).per(self.per))
            .concurrency(|c| c.named("all").scope_policy().max(25.0).full_backoff(Duration::from_millis(50)));
        let shares = FairnessBuilder::weighted().weight_from("max", Some(1.0));
        let shared = if self.weighted { shared.fairness(shares) } else { shared };
        [capped, metered, free, learning, shared]
            .map(|p| p.build().expect("a policy without mistakes"))
            .into()
    }
}

/// The context of a tenant at this moment. Now and then a limit holds everything, or cannot be read; the next one lets go again.
pub(super) fn context(random: &mut Random) -> Value {
    let tenant = if random.chance(0.7) {
        format!("hot{}", random.below(HOT))
    } else {
        format!("cold{}", random.below(COLD))
    };
    let mut context = json!({ "tenant": tenant, "region": region(random) });
    if random.chance(0.9) {
        context["max"] = random.pick(&[0, 1, 1, 2, 3, 5, 8, 12]).into();
    } else if random.chance(0.2) {
        context["max"] = "many".into();
    }
    if random.chance(0.9) {
        context["rate"] = random.pick(&[0.0, 2.5, 10.0, 25.0, 60.0]).into();
    } else if random.chance(0.2) {
        context["rate"] = (-1).into();
    }
    // A tenant moves from account to account.
    context["account"] = random.below(6).into();
    if random.chance(0.5) {
        context["account_max"] = random.pick(&[0, 1, 2, 4, 9]).into();
    }
    if random.chance(0.5) {
        context["burst"] = random.pick(&[1.0, 2.5, 5.0, 20.0]).into();
    }
    context
}

/// The key of a partition that always has something to do, of the first or the second policy.
pub(super) fn hot(policy: &str, random: &mut Random) -> String {
    format!("{}hot{}", if policy == NAMES[1] { "t:" } else { "" }, random.below(HOT))
}

/// A context that lets everything go.
pub(super) fn generous(key: &str) -> Value {
    let tenant = key.strip_prefix("t:").unwrap_or(key);
    json!({ "tenant": tenant, "region": "last", "max": 20, "rate": 1_000, "burst": 100, "account": 0, "account_max": 20 })
}

fn region(random: &mut Random) -> &'static str {
    random.pick(&["north", "south"])
}
