use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use fairgate_core::definition::{Definition, Scope};
use fairgate_core::duration::format_duration;
use fairgate_core::gate::Gate;
use fairgate_core::id::PolicyName;
use fairgate_core::policy::Policy;
use serde::Serialize;

use crate::error::DatabaseError;
use crate::operate::OperateError;

/// What lasts longer belongs into the policy.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// A number of a gate. Text: `GATE.PARAMETER`, as in `concurrency.max`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The gate's name; its type's, where the policy gives it none.
    pub gate: String,
    /// The parameter, as the configuration spells it.
    pub parameter: String,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.gate, self.parameter)
    }
}

impl FromStr for Target {
    type Err = OverrideError;
    fn from_str(text: &str) -> Result<Self, OverrideError> {
        match text.rsplit_once('.') {
            Some((gate, parameter)) if !gate.is_empty() && !parameter.is_empty() => {
                Ok(Self { gate: gate.to_owned(), parameter: parameter.to_owned() })
            }
            _ => Err(OverrideError::NotATarget { text: text.to_owned() }),
        }
    }
}

impl Target {
    /// Whether the policy with this stored definition has it.
    pub(super) fn check(&self, policy: &PolicyName, definition: &str) -> Result<(), OverrideError> {
        let unreadable = |why: String| OverrideError::Unreadable { policy: policy.to_string(), why };
        let definition: Definition =
            serde_json::from_str(definition).map_err(|error| unreadable(error.to_string()))?;
        let rules = Policy::from_definition(policy.as_str(), definition)
            .map_err(|problems| unreadable(problems.to_string()))?;
        let known: Vec<String> = (rules.gates().iter())
            .flat_map(|gate| gate.parameters().iter().map(move |name| format!("{}.{name}", gate.name())))
            .collect();
        let given = self.to_string();
        if known.contains(&given) {
            let gate = rules.gates().iter().find(|gate| gate.name().as_str() == self.gate);
            return match gate.map(Gate::scope) {
                Some(scope @ (Scope::Path(_) | Scope::Policy)) => {
                    let (policy, gate) = (policy.to_string(), self.gate.clone());
                    Err(OverrideError::Shared { policy, gate, scope: scope.to_string() })
                }
                _ => Ok(()),
            };
        }
        Err(OverrideError::UnknownTarget { policy: policy.to_string(), given, known })
    }
}

/// An override to make.
#[derive(Debug, Clone)]
pub struct NewOverride {
    /// The number that it takes the place of.
    pub target: Target,
    /// Finite and not negative; in the parameter's own unit.
    pub value: f64,
    /// From now on: more than nothing, at most 366 days.
    pub lasts: Duration,
    /// Why, for those who find it. Not empty.
    pub reason: String,
    /// Who says so, beside the database user; for people.
    pub who: Option<String>,
}

impl NewOverride {
    pub(super) fn check(&self) -> Result<(), OverrideError> {
        if !self.value.is_finite() || self.value < 0.0 {
            return Err(OverrideError::BadValue { value: self.value });
        }
        if self.lasts < Duration::from_micros(1) || self.lasts > LONGEST {
            return Err(OverrideError::BadSpan { lasts: self.lasts });
        }
        let bytes = self.reason.trim().len();
        if bytes == 0 || bytes > 10_000 || self.reason.contains('\0') {
            return Err(OverrideError::BadReason);
        }
        Ok(())
    }
}

/// An override in force.
#[derive(Debug, Clone, PartialEq, Serialize, sqlx::FromRow)]
pub struct Override {
    /// The partition's key. None: the partition was removed while it was idle; the override counts again if it comes back.
    pub partition: Option<String>,
    /// The gate.
    pub gate: String,
    /// The parameter of it.
    pub parameter: String,
    /// The number in its place.
    pub value: f64,
    /// When it ends.
    pub until: DateTime<Utc>,
    /// Who made it: a database user, or `NAME as USER`.
    pub who: String,
    /// When.
    pub made_at: DateTime<Utc>,
    /// Why.
    pub reason: String,
}

/// Why a limit was not overridden.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// There is no such policy or partition, or the database failed.
    #[error(transparent)]
    Operate(#[from] OperateError),
    /// It does not name a number of a gate.
    #[error("\"{text}\" names no number of a gate; give GATE.PARAMETER, as in concurrency.max")]
    NotATarget {
        /// What was given.
        text: String,
    },
    /// The policy has no such gate, or the gate no such number.
    #[error("policy \"{policy}\" has no \"{given}\"{}", nearest(given, known))]
    UnknownTarget {
        /// The policy.
        policy: String,
        /// What was given.
        given: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// The number is not the partition's alone.
    #[error(
        "gate \"{gate}\" of policy \"{policy}\" counts all partitions of one {scope} together, so it has no number of one partition; \
         change the number in their context, or in the policy"
    )]
    Shared {
        /// The policy.
        policy: String,
        /// The gate.
        gate: String,
        /// What it counts together.
        scope: String,
    },
    /// The value is no limit.
    #[error("an override cannot be {value}; give a number from 0 up")]
    BadValue {
        /// What was given.
        value: f64,
    },
    /// It would last for nothing, or for good.
    #[error(
        "an override cannot last {}; give up to 366 days, and write what is to stay into the policy",
        format_duration(*lasts)
    )]
    BadSpan {
        /// What was given.
        lasts: Duration,
    },
    /// There is no reason, or one that cannot be stored.
    #[error(
        "an override needs a reason, of at most 10,000 bytes and without NUL: those who find it want to know"
    )]
    BadReason,
    /// The registered policy is of another version.
    #[error("the definition of policy \"{policy}\" cannot be read by this version: {why}")]
    Unreadable {
        /// The policy.
        policy: String,
        /// Why.
        why: String,
    },
}

impl From<DatabaseError> for OverrideError {
    fn from(error: DatabaseError) -> Self {
        Self::Operate(error.into())
    }
}

fn nearest(given: &str, known: &[String]) -> String {
    let near = known.iter().max_by(|a, b| {
        let score = |name: &str| strsim::jaro_winkler(given, name);
        score(a).total_cmp(&score(b))
    });
    match near {
        None => "; it has no gates".to_owned(),
        Some(near) => format!("; did you mean \"{near}\"? It has {}", known.join(", ")),
    }
}
