//! Where a partition key or shard comes from.

use std::fmt;
use std::sync::Arc;

use crate::context::Context;
use crate::definition::KeySource;
use crate::template::{KeyError, Template};

pub(super) type KeyFn = Arc<dyn Fn(&Context) -> String + Send + Sync>;

#[derive(Clone)]
pub(super) enum Key {
    Template(Template),
    /// `None`: the closure lives in another process.
    Computed(Option<KeyFn>),
}

impl Key {
    pub(super) fn text(&self, context: &Context) -> Result<String, KeyError> {
        match self {
            Self::Template(template) => template.render_text(context),
            Self::Computed(Some(compute)) => Ok(compute(context)),
            Self::Computed(None) => Err(KeyError::NoClosure),
        }
    }

    pub(super) fn source(&self) -> KeySource {
        match self {
            Self::Template(template) => KeySource::Template(template.clone()),
            Self::Computed(_) => KeySource::Computed,
        }
    }

    pub(super) const fn is_computed(&self) -> bool {
        matches!(self, Self::Computed(_))
    }

    pub(super) const fn is_missing(&self) -> bool {
        matches!(self, Self::Computed(None))
    }
}

impl From<KeySource> for Key {
    fn from(source: KeySource) -> Self {
        match source {
            KeySource::Template(template) => Self::Template(template),
            KeySource::Computed => Self::Computed(None),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template(template) => write!(f, "{:?}", template.as_str()),
            Self::Computed(_) => f.write_str("computed"),
        }
    }
}
