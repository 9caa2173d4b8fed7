//! GitHub's budgets as plans: of the core one polls first, the rest for enrichment; of the search one all for batches.

use std::time::Duration;

use fairgate::budget::{Allowance, Class, Lane, Member, Plan, PlanError, Share, Windows};

use crate::enrich::Kind;

/// The ledger's name, and the gate's.
pub const BUDGET: &str = "github-core";
/// The ledger's name of the search budget. It has no gate of its own.
pub const SEARCH_BUDGET: &str = "github-search";
/// Requests an hour for an address, and for a token until the server tells another number.
const LIMITS: (u32, u32) = (60, 5000);
/// Searches a minute, likewise.
const SEARCHES: (u32, u32) = (10, 30);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const POLL: &str = "poll";
const ENRICHMENT: &str = "enrichment";
const SEARCH: &str = "search";

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
    let classes = vec![
        class(POLL, Allowance::Fixed(polls), true, vec![]),
        class(ENRICHMENT, Allowance::Rest, false, kinds(actor_share)),
    ];
    let limit = if authenticated { LIMITS.1 } else { LIMITS.0 };
    Plan::new("core", limit, reserve, Windows::FromHeaders(HOUR), classes)
}

/// The division of one minute's searches: nothing is kept back, and the kinds share it as they share enrichment.
///
/// # Errors
/// Never: its numbers are constants.
pub fn search(authenticated: bool, actor_share: Share) -> Result<Plan, PlanError> {
    let limit = if authenticated { SEARCHES.1 } else { SEARCHES.0 };
    let classes = vec![class(SEARCH, Allowance::Rest, true, kinds(actor_share))];
    Plan::new("search", limit, 0, Windows::FromHeaders(MINUTE), classes)
}

fn class(name: &str, allowance: Allowance, opens_windows: bool, members: Vec<Member>) -> Class {
    Class { name: name.to_owned(), allowance, opens_windows, members }
}

fn kinds(actor_share: Share) -> Vec<Member> {
    Kind::ALL.map(|kind| Member { name: kind.code().to_owned(), share: actor_share }).into()
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

/// The account of searches for a kind of entity.
#[must_use]
pub fn search_lane(plan: &Plan, kind: Kind) -> Lane {
    plan.lane(SEARCH, Some(kind.code())).expect("a member of this plan")
}
