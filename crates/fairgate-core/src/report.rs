//! What a tick did.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::reason::DenyReason;
use crate::tick_plan::TickPlan;

/// What a tick did, for samples, metrics and logs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TickReport {
    /// Partitions that were claimed.
    pub partitions_seen: u64,
    /// Partitions of which at least one job was admitted.
    pub partitions_admitted: u64,
    /// Partitions with waiting jobs that got nothing, for a reason of the list.
    pub partitions_denied: u64,
    /// Jobs that were admitted.
    pub jobs_admitted: u64,
    /// Partitions or jobs that could not be admitted because of an error.
    pub failures: u64,
    /// Denied partitions by reason.
    pub denials: BTreeMap<DenyReason, u64>,
    /// What shadow gates would have denied, by reason: one for each partition with waiting jobs and each such gate, whatever became
    /// of the partition. None of them is in the counts above.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub shadow_denials: BTreeMap<DenyReason, u64>,
}

/// What the reason of a shadow gate's denial is written with, where both are in one map.
pub const SHADOW_PREFIX: &str = "shadow:";

impl TickReport {
    /// The report of a plan of which `taken[i]` jobs of the partition of `looks[i]` were admitted. Failures are the caller's to add.
    pub fn of(plan: &TickPlan, taken: &[u32]) -> Self {
        let mut report = Self::default();
        let taken = taken.iter().copied().chain(std::iter::repeat(0));
        for (look, taken) in plan.looks.iter().zip(taken) {
            report.partitions_seen += 1;
            report.jobs_admitted += u64::from(taken);
            for denial in look.shadow_denials() {
                *report.shadow_denials.entry(denial.reason).or_default() += 1;
            }
            if taken > 0 {
                report.partitions_admitted += 1;
            } else if let Some(denial) = &look.denial {
                report.partitions_denied += 1;
                *report.denials.entry(denial.reason).or_default() += 1;
            }
        }
        report
    }

    /// Adds another tick, or another part of this one.
    pub fn merge(&mut self, other: &Self) {
        self.partitions_seen += other.partitions_seen;
        self.partitions_admitted += other.partitions_admitted;
        self.partitions_denied += other.partitions_denied;
        self.jobs_admitted += other.jobs_admitted;
        self.failures += other.failures;
        for (reason, count) in &other.denials {
            *self.denials.entry(*reason).or_default() += count;
        }
        for (reason, count) in &other.shadow_denials {
            *self.shadow_denials.entry(*reason).or_default() += count;
        }
    }

    /// All denials as the text of one JSON object, what samples store: `{"rate_limited": 2, "shadow:rate_limited": 1}`.
    pub fn denials_json(&self) -> String {
        let enforced = self.denials.iter().map(|(reason, count)| (reason.to_string(), *count));
        let shadow = self.shadow_denials.iter();
        let shadow = shadow.map(|(reason, count)| (format!("{SHADOW_PREFIX}{reason}"), *count));
        let all: BTreeMap<String, u64> = enforced.chain(shadow).collect();
        serde_json::to_string(&all).expect("a map of texts and numbers can be written")
    }
}
