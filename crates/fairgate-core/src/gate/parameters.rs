//! The numbers of a gate by their names.

use super::Gate;
use crate::param::Param;

impl Gate {
    /// The names of its numbers, as the configuration spells them. An optional one that the policy leaves out is among them.
    pub const fn parameters(&self) -> &'static [&'static str] {
        match self {
            Self::Throttle(_) => &["rate", "burst"],
            Self::Concurrency(_) => &["max"],
            Self::Adaptive(_) => &["initial_max", "target_lag_ms", "min", "max"],
        }
    }

    /// The gate with a fixed number in the place of one of [`Gate::parameters`]; without a parameter of that name it is as it was.
    pub(crate) fn with_number(mut self, parameter: &str, number: f64) -> Self {
        let fixed = Param::Fixed(number);
        match (&mut self, parameter) {
            (Self::Throttle(gate), "rate") => gate.rate = fixed,
            (Self::Throttle(gate), "burst") => gate.burst = Some(fixed),
            (Self::Concurrency(gate), "max") => gate.max = fixed,
            (Self::Adaptive(gate), "initial_max") => gate.initial_max = fixed,
            (Self::Adaptive(gate), "target_lag_ms") => gate.target_lag_ms = fixed,
            (Self::Adaptive(gate), "min") => gate.min = fixed,
            (Self::Adaptive(gate), "max") => gate.max = Some(fixed),
            _ => {}
        }
        self
    }
}
