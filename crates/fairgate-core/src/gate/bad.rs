//! The answers of a gate that cannot be asked.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::scope::BadScope;
use crate::id::GateName;
use crate::param::BadParam;
use crate::reason::DenyReason;
use crate::time::later;
use crate::verdict::{BadNumber, Denial, Verdict, WakeEvent};

/// When a gate that cannot be asked is looked at again.
const BACKOFF: Duration = Duration::from_secs(60);

/// The answer of a gate whose number cannot be used.
pub(super) fn parameter(
    gate: &GateName,
    parameter: &'static str,
    problem: BadParam,
    now: DateTime<Utc>,
) -> Verdict {
    let bad = Some(BadNumber { parameter, problem });
    Verdict::Deny(Denial { bad, ..denial(gate, DenyReason::BadParameter, now) })
}

/// The answer of a gate whose scope the context does not say.
pub(super) fn scope(gate: &GateName, problem: BadScope, now: DateTime<Utc>) -> Denial {
    Denial { bad_scope: Some(problem), ..denial(gate, DenyReason::BadScope, now) }
}

fn denial(gate: &GateName, reason: DenyReason, now: DateTime<Utc>) -> Denial {
    Denial {
        gate: Some(gate.clone()),
        event: Some(WakeEvent::ContextChange),
        ..Denial::new(reason, later(now, BACKOFF))
    }
}
