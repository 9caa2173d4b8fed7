//! The demo's policies, and what they allow each tenant.

use std::time::Duration;

use fairgate::{Policy, Problems};
use serde_json::{Value, json};

/// The name of the queue in the registry.
pub(super) const QUEUE: &str = "demo";
/// Whose deliveries are multiplied, by how much: the busiest owner, the next, the third.
pub(super) const FACTORS: [u32; 3] = [200, 50, 20];

const CAPS: [u32; 3] = [8, 4, 3];
const USUAL_CAP: u32 = 2;
const THROTTLES: [Throttle; 3] =
    [Throttle { rate: 45, burst: 25 }, Throttle { rate: 10, burst: 5 }, Throttle { rate: 5, burst: 5 }];
const USUAL_THROTTLE: Throttle = Throttle { rate: 5, burst: 5 };

/// Which policy a delivery goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Route {
    /// Pushes: at most so many in flight.
    Pushes,
    /// What people discuss: at most so many a second.
    Issues,
    /// Everything else: no gate.
    Others,
}

/// What a tenant of a policy is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Deliveries in flight.
    Cap(u32),
    /// Deliveries a second.
    Throttle(Throttle),
    /// Anything.
    None,
}

/// Deliveries a second in the long run, and at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Throttle {
    pub(super) rate: u32,
    pub(super) burst: u32,
}

impl Route {
    pub(super) const ALL: [Self; 3] = [Self::Pushes, Self::Issues, Self::Others];

    /// By GitHub's name of the event's type.
    pub(super) fn of(kind: &str) -> Self {
        match kind {
            "PushEvent" => Self::Pushes,
            "PullRequestEvent" | "PullRequestReviewCommentEvent" | "IssuesEvent" | "IssueCommentEvent" => {
                Self::Issues
            }
            _ => Self::Others,
        }
    }

    /// The name of its policy. The prefix keeps it apart from a user's own.
    pub(super) fn policy(self) -> &'static str {
        match self {
            Self::Pushes => "demo_pushes",
            Self::Issues => "demo_issues",
            Self::Others => "demo_others",
        }
    }

    pub(super) fn of_policy(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|route| route.policy() == name)
    }

    /// What it allows the owner of this rank; 0 is the busiest.
    pub(super) fn limit(self, rank: usize) -> Limit {
        match self {
            Self::Pushes => Limit::Cap(CAPS.get(rank).copied().unwrap_or(USUAL_CAP)),
            Self::Issues => Limit::Throttle(THROTTLES.get(rank).copied().unwrap_or(USUAL_THROTTLE)),
            Self::Others => Limit::None,
        }
    }

    /// What its gates read of a job of this owner: limits of its own for the busy ones, the defaults for all others.
    pub(super) fn context(self, owner: &str, rank: usize) -> Value {
        match self.limit(rank) {
            Limit::Cap(max) if rank < CAPS.len() => json!({ "owner": owner, "max": max }),
            Limit::Throttle(Throttle { rate, burst }) if rank < THROTTLES.len() => {
                json!({ "owner": owner, "rate": rate, "burst": burst })
            }
            _ => json!({ "owner": owner }),
        }
    }

    /// The policy as it is registered.
    ///
    /// # Errors
    /// Never, as a test shows.
    pub(super) fn rules(self) -> Result<Policy, Problems> {
        let policy = Policy::builder(self.policy()).queue(QUEUE).partition_by("owner");
        match self {
            Self::Pushes => policy.concurrency(|gate| gate.max_from("max", f64::from(USUAL_CAP))),
            Self::Issues => policy.throttle(|gate| {
                gate.rate_from("rate", f64::from(USUAL_THROTTLE.rate))
                    .per(Duration::from_secs(1))
                    .burst_from("burst", f64::from(USUAL_THROTTLE.burst))
            }),
            Self::Others => policy,
        }
        .build()
    }

    /// Its gates in a few words.
    pub(super) fn gates(self) -> String {
        let range = |numbers: &mut dyn Iterator<Item = u32>| {
            let numbers: Vec<u32> = numbers.collect();
            let (least, most) = (numbers.iter().min(), numbers.iter().max());
            format!("{} to {}", least.unwrap_or(&0), most.unwrap_or(&0))
        };
        match self {
            Self::Pushes => {
                format!("at most {} in flight per tenant", range(&mut CAPS.into_iter().chain([USUAL_CAP])))
            }
            Self::Issues => {
                let rates = THROTTLES.into_iter().chain([USUAL_THROTTLE]).map(|throttle| throttle.rate);
                format!("at most {} a second per tenant", range(&mut { rates }))
            }
            Self::Others => "no gate".to_owned(),
        }
    }
}

impl Limit {
    /// As the table shows it.
    pub(super) fn words(self) -> String {
        match self {
            Self::Cap(max) => format!("max {max}"),
            Self::Throttle(Throttle { rate, .. }) => format!("{rate}/s"),
            Self::None => "none".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_sound() {
        for route in Route::ALL {
            route.rules().unwrap();
        }
    }

    #[test]
    fn each_kind_of_gate_has_a_policy_and_one_policy_has_none() {
        assert!(matches!(Route::Pushes.limit(0), Limit::Cap(_)));
        assert!(matches!(Route::Issues.limit(0), Limit::Throttle(_)));
        assert_eq!(Route::Others.limit(0), Limit::None);
        assert_eq!(Route::Others.rules().unwrap().gates().len(), 0);
    }

    #[test]
    fn the_limits_are_those_that_the_context_gives() {
        assert_eq!(Route::Pushes.context("a", 1), json!({ "owner": "a", "max": 4 }));
        assert_eq!(Route::Pushes.context("a", 9), json!({ "owner": "a" }));
        assert_eq!(Route::Issues.context("a", 0), json!({ "owner": "a", "rate": 45, "burst": 25 }));
    }
}
