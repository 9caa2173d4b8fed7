//! How the partitions of a policy share.

use super::gate_builder::ParamDraft;
use crate::context::Context;
use crate::definition::{DEFAULT_WEIGHT_PATH, FairnessDefinition, ParamDefinition};
use crate::fairness::weighted::Cost;
use crate::param::{Computed, Param};

/// How the partitions of a policy share, ready to decide.
#[derive(Debug, Clone)]
pub enum Fairness {
    /// Who was served least lately is served first.
    Recent,
    /// In proportion to weights.
    Weighted {
        /// What a job costs.
        cost: Cost,
        /// A partition's weight, from its newest context.
        weight: Param,
    },
}

impl Fairness {
    /// The part that can be stored.
    pub(super) fn definition(&self) -> FairnessDefinition {
        match self {
            Self::Recent => FairnessDefinition::Recent,
            Self::Weighted { cost, weight } => {
                FairnessDefinition::Weighted { cost: *cost, weight: weight.definition() }
            }
        }
    }

    pub(super) const fn closure(&self) -> Option<&Computed> {
        match self {
            Self::Weighted { weight: Param::Computed(closure), .. } => Some(closure),
            Self::Recent | Self::Weighted { .. } => None,
        }
    }
}

/// Fairness being written.
#[derive(Debug, Clone, Default)]
pub struct FairnessBuilder {
    /// `None` is recent activity.
    pub(super) weighted: Option<(Cost, ParamDraft)>,
}

impl FairnessBuilder {
    /// Who was served least lately is served first; the default.
    pub const fn recent() -> Self {
        Self { weighted: None }
    }

    /// In proportion to weights: those at `weight` in the context, 1 where there is none; a job costs 1.
    pub fn weighted() -> Self {
        let weight = ParamDraft::From { path: DEFAULT_WEIGHT_PATH.to_owned(), default: Some(1.0) };
        Self { weighted: Some((Cost::Jobs, weight)) }
    }

    /// Whether it goes by recent activity.
    pub const fn is_recent(&self) -> bool {
        self.weighted.is_none()
    }

    /// What a job costs. Makes it weighted.
    #[must_use]
    pub fn cost(self, cost: Cost) -> Self {
        let (_, weight) = self.or_weighted();
        Self { weighted: Some((cost, weight)) }
    }

    /// The same weight for all.
    #[must_use]
    pub fn weight(self, weight: f64) -> Self {
        self.with(ParamDraft::Fixed(weight))
    }

    /// The weight, read from the context; `default` (a number or `None`) counts when it is absent or null.
    #[must_use]
    pub fn weight_from(self, path: impl Into<String>, default: impl Into<Option<f64>>) -> Self {
        self.with(ParamDraft::From { path: path.into(), default: default.into() })
    }

    /// The weight, computed. The closure must be pure.
    #[must_use]
    pub fn weight_fn(self, compute: impl Fn(&Context) -> f64 + Send + Sync + 'static) -> Self {
        self.with(ParamDraft::Computed(Computed::new(compute)))
    }

    fn with(self, weight: ParamDraft) -> Self {
        let (cost, _) = self.or_weighted();
        Self { weighted: Some((cost, weight)) }
    }

    fn or_weighted(self) -> (Cost, ParamDraft) {
        self.weighted.or_else(|| Self::weighted().weighted).expect("weighted() is")
    }
}

impl From<FairnessDefinition> for FairnessBuilder {
    fn from(definition: FairnessDefinition) -> Self {
        let FairnessDefinition::Weighted { cost, weight } = definition else { return Self::recent() };
        let weight = match weight {
            ParamDefinition::Fixed(number) => ParamDraft::Fixed(number),
            ParamDefinition::From { path, default } => ParamDraft::From { path: path.to_string(), default },
            ParamDefinition::Computed => ParamDraft::Computed(Computed::missing()),
        };
        Self { weighted: Some((cost, weight)) }
    }
}
