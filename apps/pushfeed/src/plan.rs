//! GitHub's core budget as a plan: polls first, the rest for enrichment.

use std::time::Duration;

use fairgate::budget::{Allowance, Class, Lane, Member, Plan, PlanError, Share, Windows};

use crate::enrich::Kind;

/// The ledger's name, and the gate's.
pub const BUDGET: &str = "github-core";
/// Requests an hour for an address, and for a token until the server tells another number.
const LIMITS: (u32, u32) = (60, 5000);
const HOUR: Duration = Duration::from_secs(3600);
const POLL: &str = "poll";
const ENRICHMENT: &str = "enrichment";

/// The division of one hour's requests:
///
/// ```text
/// poll       = ceil(3600 / cadence) * pages * sources
/// enrichment = limit - reserve - poll
/// actor      = floor(enrichment * share), repository = the rest
/// ```
///
/// # Errors
/// When polls and the reserve leave nothing.
pub fn github(
    authenticated: bool,
    reserve: u32,
    cadence: Duration,
    pages: u32,
    sources: u32,
    actor_share: Share,
) -> Result<Plan, PlanError> {
    let cadence = cadence.as_secs().max(1);
    let polls = HOUR.as_secs().div_ceil(cadence) * u64::from(pages) * u64::from(sources);
    let polls = u32::try_from(polls).unwrap_or(u32::MAX);
    let member = |kind: Kind| Member { name: kind.code().to_owned(), share: actor_share };
    let class = |name: &str, allowance, opens_windows, members| {
        let name = name.to_owned();
        Class { name, allowance, opens_windows, members }
    };
    let classes = vec![
        class(POLL, Allowance::Fixed(polls), true, vec![]),
        class(ENRICHMENT, Allowance::Rest, false, vec![member(Kind::Actor), member(Kind::Repository)]),
    ];
    let limit = if authenticated { LIMITS.1 } else { LIMITS.0 };
    Plan::new("core", limit, reserve, Windows::FromHeaders(HOUR), classes)
}

/// The account of polls.
#[must_use]
pub fn poll_lane(plan: &Plan) -> Lane {
    plan.lane(POLL, None).expect("a class of this plan")
}

/// The account of a kind of entity.
#[must_use]
pub fn lane(plan: &Plan, kind: Kind) -> Lane {
    plan.lane(ENRICHMENT, Some(kind.code())).expect("a member of this plan")
}
