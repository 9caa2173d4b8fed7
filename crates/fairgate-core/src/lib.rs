//! The pure decisions of fairgate: gates, fairness and the plan of a tick.
//!
//! Nothing here reads a clock, draws a random number, opens a connection or looks at the environment: `now` is always an
//! argument, and what was really done comes back as an argument too. The same code therefore admits, explains and simulates.
//!
//! ```text
//! facts (Claimed) -> tick_plan::plan -> pipeline::observe                  what was learnt
//!                                    -> pipeline::decide -> gate::Gate   what may go
//!                                    -> fairness::offers                  what each gets
//!                 <- TickPlan::settle(taken)                              what to write back
//! ```
//!
//! [`budget`] decides about requests to a rate-limited API in the same way: one row of state, a wish or an answer, and the time.

pub mod budget;
pub mod context;
pub mod definition;
pub mod duration;
pub mod fairness;
pub mod forecast;
pub mod gate;
pub mod hint;
pub mod id;
pub mod overrides;
pub mod param;
pub mod pipeline;
pub mod policy;
pub mod pressure;
pub mod reason;
pub mod report;
pub mod template;
pub mod tick_plan;
mod time;
pub mod verdict;

pub use context::{Context, ContextError, Leaf, Path, PathError};
pub use definition::{
    AdaptiveDefinition, Definition, GateDefinition, GateKind, HalfLife, KeySource, ParamDefinition, Retry,
    Scope,
};
pub use duration::{DurationError, format_duration, parse_duration};
pub use gate::{BadScope, Facts, Gate, JobOutcome, Observation, RawState, ScopeKey};
pub use id::{
    AdmissionId, GateName, IdError, JobId, PartitionId, PartitionKey, PolicyName, QueueName, ScopeValue,
    Shard,
};
pub use overrides::{Override, Overrides};
pub use param::{BadParam, Param};
pub use pipeline::{Decision, GateStates, at_rest, decide, observe};
pub use policy::{Policy, PolicyBuilder, Problem, Problems, Settings};
pub use reason::DenyReason;
pub use report::TickReport;
pub use template::{KeyError, Template, TemplateError};
pub use tick_plan::{
    Claimed, Due, HeldScope, Limits, Look, Place, PlaceSettlement, ScopeSettlement, ScopeSettlements, Scopes,
    Settlement, TickPlan, plan, plan_scoped,
};
pub use verdict::{Allowance, Denial, Verdict, WakeEvent};
