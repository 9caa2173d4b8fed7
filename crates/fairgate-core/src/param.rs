//! The numbers that gates take: fixed, read from the context, or computed.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;

use crate::context::{Context, Leaf, Path};
use crate::definition::ParamDefinition;

/// Where a gate's number comes from.
#[derive(Debug, Clone)]
pub enum Param {
    /// The same for every partition.
    Fixed(f64),
    /// Read from the partition's newest context.
    From {
        /// Where it stands.
        path: Path,
        /// What counts when it is absent or null.
        default: Option<f64>,
    },
    /// Computed by a closure over the context.
    Computed(Computed),
}

type NumberFn = dyn Fn(&Context) -> f64 + Send + Sync;

/// A closure over the context, or the place of one that this process does not have.
#[derive(Clone)]
pub struct Computed(Option<Arc<NumberFn>>);

impl Computed {
    /// Wraps a closure. It must be pure: the same context gives the same number.
    pub fn new(compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(compute)))
    }

    /// The place of a closure that was defined in another process; it resolves to [`BadParam::NoClosure`].
    pub const fn missing() -> Self {
        Self(None)
    }

    /// Whether the closure is missing.
    pub const fn is_missing(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for Computed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("computed")
    }
}

/// Why a gate's number cannot be used. Such a number denies; it never admits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum BadParam {
    /// The context has none, and there is no default.
    #[error("the context has no `{path}` and there is no default")]
    Missing {
        /// Where it should stand.
        path: Path,
    },
    /// The context has something else there; a text that looks like a number is none.
    #[error("`{path}` in the context is not a number")]
    NotANumber {
        /// Where it stands.
        path: Path,
    },
    /// It is below zero.
    #[error("the number is negative")]
    Negative,
    /// It is NaN or too large for a float.
    #[error("the number is not finite")]
    NotFinite,
    /// The closure panicked.
    #[error("the closure that computes the number panicked")]
    Panicked,
    /// The closure lives in another process.
    #[error("the number is computed by a closure that this process does not have")]
    NoClosure,
}

impl Param {
    /// The number for a context: finite and not negative, or why not.
    pub fn resolve(&self, context: &Context) -> Result<f64, BadParam> {
        let number = match self {
            Self::Fixed(number) => *number,
            Self::From { path, default } => from_context(context, path, *default)?,
            Self::Computed(Computed(None)) => return Err(BadParam::NoClosure),
            Self::Computed(Computed(Some(compute))) => {
                catch_unwind(AssertUnwindSafe(|| compute(context))).map_err(|_| BadParam::Panicked)?
            }
        };
        if !number.is_finite() {
            Err(BadParam::NotFinite)
        } else if number < 0.0 {
            Err(BadParam::Negative)
        } else {
            Ok(number)
        }
    }

    /// The part that can be stored.
    pub fn definition(&self) -> ParamDefinition {
        match self {
            Self::Fixed(number) => ParamDefinition::Fixed(*number),
            Self::From { path, default } => ParamDefinition::From { path: path.clone(), default: *default },
            Self::Computed(_) => ParamDefinition::Computed,
        }
    }
}

fn from_context(context: &Context, path: &Path, default: Option<f64>) -> Result<f64, BadParam> {
    let not_a_number = || BadParam::NotANumber { path: path.clone() };
    match context.get(path) {
        Leaf::Number(literal) => literal.parse().map_err(|_| not_a_number()),
        Leaf::Missing | Leaf::Null => default.ok_or_else(|| BadParam::Missing { path: path.clone() }),
        Leaf::Bool(_) | Leaf::Text(_) | Leaf::Composite => Err(not_a_number()),
    }
}
