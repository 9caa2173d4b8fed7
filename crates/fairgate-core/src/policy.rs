//! A policy: validated rules, ready to decide.

mod builder;
mod check;
mod fairness;
mod gate_builder;
mod key;
mod problem;

use std::sync::Arc;

use crate::context::Context;
use crate::definition::{Definition, HalfLife};
use crate::gate::Gate;
use crate::id::{PartitionKey, PolicyName, QueueName, Shard};
use crate::overrides::Override;
use crate::param::Computed;
use crate::template::KeyError;
use crate::tick_plan::Limits;

pub use builder::PolicyBuilder;
pub use fairness::{Fairness, FairnessBuilder};
pub use gate_builder::{AdaptiveBuilder, ConcurrencyBuilder, ThrottleBuilder};
pub use problem::{Problem, Problems};

use key::Key;

/// A named set of rules that is known to make sense. A clone is cheap.
#[derive(Debug, Clone)]
pub struct Policy(Arc<Rules>);

#[derive(Debug, Clone)]
struct Rules {
    name: PolicyName,
    definition: Definition,
    partition_by: Key,
    shard_by: Option<Key>,
    fairness: Fairness,
    gates: Vec<Gate>,
}

/// What a policy sets differently from the engine; `None` is the engine's value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// Jobs a partition may get in one look when there is no tick budget.
    pub admission_batch_size: Option<u32>,
    /// How fast recent activity is forgotten.
    pub fairness_half_life: Option<HalfLife>,
    /// Jobs that one tick may admit.
    pub tick_admission_budget: Option<u32>,
}

impl Settings {
    /// The engine's values with the policy's own in their place.
    pub fn resolve(&self, engine: &Limits) -> Limits {
        Limits {
            admission_batch_size: self.admission_batch_size.unwrap_or(engine.admission_batch_size),
            tick_admission_budget: self.tick_admission_budget.or(engine.tick_admission_budget),
            half_life: match self.fairness_half_life {
                Some(half_life) => half_life.duration(),
                None => engine.half_life,
            },
            queue_room: engine.queue_room,
        }
    }
}

impl Policy {
    /// Starts a policy. Nothing is checked before `build`, which then reports everything at once.
    pub fn builder(name: &str) -> PolicyBuilder {
        PolicyBuilder::new(name)
    }

    /// A policy from the configuration or the database. Closures that it mentions are missing: what needs them denies.
    pub fn from_definition(name: &str, definition: Definition) -> Result<Self, Problems> {
        PolicyBuilder::of(name, definition).build()
    }

    /// Its name.
    pub fn name(&self) -> &PolicyName {
        &self.0.name
    }

    /// The part that can be stored; closures are only mentioned.
    pub fn definition(&self) -> Definition {
        self.0.definition.clone()
    }

    /// The queue that admitted jobs go to.
    pub fn queue(&self) -> &QueueName {
        &self.0.definition.queue
    }

    /// How its partitions share.
    pub fn fairness(&self) -> &Fairness {
        &self.0.fairness
    }

    /// The gates, in the order in which they are asked.
    pub fn gates(&self) -> &[Gate] {
        &self.0.gates
    }

    /// What it sets differently from the engine.
    pub fn settings(&self) -> Settings {
        let definition = &self.0.definition;
        Settings {
            admission_batch_size: definition.admission_batch_size,
            fairness_half_life: definition.fairness_half_life,
            tick_admission_budget: definition.tick_admission_budget,
        }
    }

    /// The partition that a job of this context belongs to.
    pub fn partition_key(&self, context: &Context) -> Result<PartitionKey, KeyError> {
        Ok(PartitionKey::try_from(self.0.partition_by.text(context)?)?)
    }

    /// The shard of a partition that is first written with this context; `default` without `shard_by`.
    pub fn shard(&self, context: &Context) -> Result<Shard, KeyError> {
        match &self.0.shard_by {
            Some(key) => Ok(Shard::try_from(key.text(context)?)?),
            None => Ok(Shard::default()),
        }
    }

    /// Whether a closure computes a key or a number, here or in another process.
    pub fn has_closures(&self) -> bool {
        self.keys().any(Key::is_computed)
            || self.fairness().closure().is_some()
            || self.gates().iter().any(Gate::has_closure)
    }

    /// Whether it mentions a closure that this process does not have. A ticker leaves such a policy alone.
    pub fn lacks_closures(&self) -> bool {
        self.keys().any(Key::is_missing)
            || self.fairness().closure().is_some_and(Computed::is_missing)
            || self.gates().iter().any(Gate::lacks_closure)
    }

    /// `other`, with its closures, when it is the policy that this one describes: same name, equal definition.
    pub fn with_closures_of(&self, other: &Self) -> Option<Self> {
        let same = self.0.name == other.0.name && self.0.definition == other.0.definition;
        same.then(|| other.clone())
    }

    /// The policy with other numbers in the places that the overrides name. Its definition stays what it was.
    pub(crate) fn with_overrides<'a>(&self, overrides: impl Iterator<Item = &'a Override>) -> Self {
        let mut overrides = overrides.peekable();
        if overrides.peek().is_none() {
            return self.clone();
        }
        let mut rules = Rules::clone(&self.0);
        for one in overrides {
            if let Some(gate) = rules.gates.iter_mut().find(|gate| *gate.name() == one.gate) {
                *gate = gate.clone().with_number(&one.parameter, one.value);
            }
        }
        Self(Arc::new(rules))
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.0.partition_by).chain(&self.0.shard_by)
    }
}
