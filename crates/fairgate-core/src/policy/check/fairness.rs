//! From the draft of fairness to fairness.

use super::Found;
use crate::context::Path;
use crate::fairness::weighted::{MAX_WEIGHT, MIN_WEIGHT};
use crate::param::Param;
use crate::policy::fairness::{Fairness, FairnessBuilder};
use crate::policy::gate_builder::ParamDraft;

pub(super) fn check(found: &mut Found, draft: FairnessBuilder) -> Option<Fairness> {
    let Some((cost, weight)) = draft.weighted else { return Some(Fairness::Recent) };
    let weight = match weight {
        ParamDraft::Fixed(number) => {
            bounds(found, "fairness.weight", number);
            Param::Fixed(number)
        }
        ParamDraft::From { path, default } => {
            if let Some(default) = default {
                bounds(found, "fairness.weight.default", default);
            }
            Param::From { path: found.keep("fairness.weight.from", path.parse::<Path>())?, default }
        }
        ParamDraft::Computed(closure) => Param::Computed(closure),
    };
    Some(Fairness::Weighted { cost, weight })
}

fn bounds(found: &mut Found, at: &str, weight: f64) {
    if !weight.is_finite() {
        found.add(at, format!("{weight} is not a finite number"));
    } else if weight < MIN_WEIGHT {
        found.add(at, format!("{weight} is too small a weight; the least is {MIN_WEIGHT}"));
    } else if weight > MAX_WEIGHT {
        found.add(at, format!("{weight} is too large a weight; the most is {MAX_WEIGHT}"));
    }
}
