//! From a gate's draft to a gate.

mod adaptive;

use super::Found;
use crate::definition::{DEFAULT_FULL_BACKOFF, Scope};
use crate::gate::throttle::MAX_JOBS;
use crate::gate::{Common, Concurrency, Gate, Throttle};
use crate::id::{GateName, IdError};
use crate::param::Param;
use crate::policy::gate_builder::{CommonDraft, ConcurrencyBuilder, GateDraft, ParamDraft, ThrottleBuilder};

pub(super) fn check(found: &mut Found, draft: GateDraft) -> Option<Gate> {
    match draft {
        GateDraft::Throttle(draft) => throttle(found, draft).map(Gate::Throttle),
        GateDraft::Concurrency(draft) => concurrency(found, draft).map(Gate::Concurrency),
        GateDraft::Adaptive(draft) => adaptive::check(found, draft).map(Gate::Adaptive),
    }
}

/// The name that a draft gives to its gate, as yet unchecked.
pub(super) fn name(draft: &GateDraft) -> &str {
    let (common, default) = match draft {
        GateDraft::Throttle(draft) => (&draft.common, "throttle"),
        GateDraft::Concurrency(draft) => (&draft.common, "concurrency"),
        GateDraft::Adaptive(draft) => (&draft.common, "adaptive_concurrency"),
    };
    common.name.as_deref().unwrap_or(default)
}

fn throttle(found: &mut Found, draft: ThrottleBuilder) -> Option<Throttle> {
    let name = draft.common.name.clone().unwrap_or_else(|| "throttle".to_owned());
    let at = |key: &str| format!("gates.{name}.{key}");
    let common = common(found, &name, draft.common);
    let rate = found
        .require(&at("rate"), draft.rate, "rate = 60")
        .and_then(|rate| number(found, &at("rate"), rate, 0.0));
    let per = found.require(&at("per"), draft.per, "per = \"1m\"");
    if let Some(per) = per {
        found.duration(&at("per"), per);
    }
    let burst = draft.burst.map(|burst| number(found, &at("burst"), burst, 1.0));
    Some(Throttle {
        common: common?,
        rate: rate?,
        per: per?,
        burst: match burst {
            Some(burst) => Some(burst?),
            None => None,
        },
    })
}

fn concurrency(found: &mut Found, draft: ConcurrencyBuilder) -> Option<Concurrency> {
    let name = draft.common.name.clone().unwrap_or_else(|| "concurrency".to_owned());
    let at = |key: &str| format!("gates.{name}.{key}");
    let common = common(found, &name, draft.common);
    let max =
        found.require(&at("max"), draft.max, "max = 5").and_then(|max| number(found, &at("max"), max, 0.0));
    let full_backoff = draft.full_backoff.unwrap_or(DEFAULT_FULL_BACKOFF);
    found.duration(&at("full_backoff"), full_backoff);
    Some(Concurrency { common: common?, max: max?, full_backoff })
}

fn common(found: &mut Found, name: &str, draft: CommonDraft) -> Option<Common> {
    let checked = found.keep::<GateName, IdError>(&format!("gates.{name}.name"), name.parse());
    let scope = match draft.scope {
        None => Some(Scope::Partition),
        Some(scope) => found.keep(&format!("gates.{name}.scope"), scope.parse()),
    };
    Some(Common { name: checked?, scope: scope?, shadow: draft.shadow })
}

/// A number that is known when the policy is built must lie within bounds; others are checked at every look.
fn number(found: &mut Found, at: &str, draft: ParamDraft, least: f64) -> Option<Param> {
    let known = match &draft {
        ParamDraft::Fixed(number) => Some((at.to_owned(), *number)),
        ParamDraft::From { default, .. } => default.map(|number| (format!("{at}.default"), number)),
        ParamDraft::Computed(_) => None,
    };
    if let Some((at, number)) = known {
        bounds(found, at, number, least);
    }
    match draft {
        ParamDraft::Fixed(number) => Some(Param::Fixed(number)),
        ParamDraft::From { path, default } => {
            let path = found.keep(&format!("{at}.from"), path.parse::<crate::context::Path>())?;
            Some(Param::From { path, default })
        }
        ParamDraft::Computed(computed) => Some(Param::Computed(computed)),
    }
}

fn bounds(found: &mut Found, at: String, number: f64, least: f64) {
    if !number.is_finite() {
        found.add(at, format!("{number} is not a finite number"));
    } else if number < least {
        found.add(at, format!("{number} is too small; the least is {least}"));
    } else if number > MAX_JOBS {
        found.add(at, format!("{number} is too large; the most is {MAX_JOBS:e}"));
    }
}
