//! What a run does.

use std::time::Duration;

use uuid::Uuid;

/// How long, from which seed, and with which planted fault.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Where all chance comes from.
    pub seed: u64,
    /// How long everything is disturbed.
    pub chaos: Duration,
    /// How long the rest may take to be done afterwards.
    pub patience: Duration,
    /// Whether the first thing that a trigger finds is enough.
    pub one_find_is_enough: bool,
    /// Whether tickers are frozen, limits change and policies are paused.
    pub interruptions: bool,
    /// The fault that the run is there to catch.
    pub sabotage: Option<Sabotage>,
}

/// A fault that is planted into the test's own database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// The claim counts the slots in its own snapshot instead of reading the counter.
    CountInClaim,
    /// The claim reads contexts in its own snapshot instead of after its locks.
    ContextInClaim,
    /// The finisher passes over a slot that somebody has locked.
    SkippingRelease,
    /// The tick forgets throttles' buckets.
    ForgottenBuckets,
}

impl Sabotage {
    pub(super) fn sql(self) -> &'static str {
        match self {
            Self::CountInClaim => include_str!("../../queries/torture/count_in_claim.sql"),
            Self::ContextInClaim => include_str!("../../queries/torture/context_in_claim.sql"),
            Self::SkippingRelease => include_str!("../../queries/torture/skipping_release.sql"),
            Self::ForgottenBuckets => include_str!("../../queries/torture/forget_buckets.sql"),
        }
    }
}

impl Plan {
    /// The run that everybody makes: as long as `FAIRGATE_TORTURE_SECONDS` says (15 seconds unless it is set), from the seed in
    /// `FAIRGATE_TORTURE_SEED` (a new one unless it is set), and up to a minute to be done.
    ///
    /// # Panics
    /// When one of them is not a whole number.
    #[must_use]
    pub fn from_environment() -> Self {
        let seconds = number("FAIRGATE_TORTURE_SECONDS").unwrap_or(15);
        Self {
            seed: seed(),
            chaos: Duration::from_secs(seconds),
            patience: Duration::from_secs(60),
            one_find_is_enough: false,
            interruptions: true,
            sabotage: None,
        }
    }

    /// A short run with a planted fault. It does not wait for what the fault has made impossible, and the tickers are busy all the time.
    ///
    /// # Panics
    /// As [`Plan::from_environment`].
    #[must_use]
    pub fn with(sabotage: Sabotage) -> Self {
        // What shows in the very admission ends the run at once; what shows at the end only must have had its time.
        let (seconds, one_find_is_enough) = match sabotage {
            Sabotage::CountInClaim | Sabotage::ContextInClaim => (60, true),
            Sabotage::SkippingRelease | Sabotage::ForgottenBuckets => (4, false),
        };
        Self {
            seed: seed(),
            chaos: Duration::from_secs(seconds),
            patience: Duration::from_secs(2),
            one_find_is_enough,
            interruptions: false,
            sabotage: Some(sabotage),
        }
    }
}

fn seed() -> u64 {
    number("FAIRGATE_TORTURE_SEED").unwrap_or_else(|| Uuid::new_v4().as_u64_pair().0 >> 32)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}; give a whole number")))
}
