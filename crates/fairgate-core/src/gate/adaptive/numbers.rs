//! What the numbers of the gate are for a partition.

use super::Adaptive;
use crate::context::Context;
use crate::gate::throttle::MAX_JOBS;
use crate::param::{BadParam, Param};

/// The numbers for a context, in jobs and milliseconds. `min <= initial <= max`, unless `max` is the smallest: it wins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Numbers {
    pub(super) initial: u64,
    pub(super) target_lag_ms: f64,
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Numbers {
    /// The nearest cap within the bounds.
    pub(super) fn bound(&self, cap: u64) -> u64 {
        cap.max(self.min).min(self.max)
    }
}

impl Adaptive {
    /// Numbers of jobs are rounded down: a cap of 2.9 lets two jobs run.
    pub(super) fn numbers(&self, context: &Context) -> Result<Numbers, (&'static str, BadParam)> {
        let read = |name, param: &Param| param.resolve(context).map_err(|problem| (name, problem));
        let jobs = |name, param| read(name, param).map(|number| number.min(MAX_JOBS).floor() as u64);
        let mut numbers = Numbers {
            initial: jobs("initial_max", &self.initial_max)?,
            target_lag_ms: read("target_lag_ms", &self.target_lag_ms)?,
            min: jobs("min", &self.min)?,
            max: match &self.max {
                Some(max) => jobs("max", max)?,
                None => MAX_JOBS as u64,
            },
        };
        numbers.initial = numbers.bound(numbers.initial);
        Ok(numbers)
    }
}
