use fairgate_core::Context;
use fairgate_core::forecast::{Forecast, forecast};
use fairgate_core::gate::Facts;
use fairgate_core::pipeline::{GateStates, decide};
use fairgate_core::policy::Policy;
use fairgate_core::verdict::WakeEvent;

use crate::support::{SECOND, at, builder, seconds, throttled};

fn told(policy: &Policy, states: &GateStates, in_flight: i64, from: i64) -> Forecast {
    let context = Context::empty();
    forecast(policy, &Facts { context: &context, pending: 40, in_flight }, states, at(from))
}

/// The states after `taken` jobs went at 0.
fn after(policy: &Policy, taken: u64) -> GateStates {
    let context = Context::empty();
    let facts = Facts { context: &context, pending: 40, in_flight: 0 };
    decide(policy, &facts, &GateStates::default(), at(0)).settle(taken, at(0))
}

#[test]
fn what_nothing_holds_goes_at_the_start() {
    let policy = throttled(1.0, seconds(1), 2.0);
    assert_eq!(told(&policy, &GateStates::default(), 0, 7).at, Some(at(7)));
}

#[test]
fn a_debt_is_over_at_the_first_microsecond_that_holds_a_token() {
    let policy = throttled(3.0, seconds(1), 2.0);
    let states = after(&policy, 4);
    // Three thirds of a second, rounded up to a microsecond.
    assert_eq!(told(&policy, &states, 0, 0).at, Some(at(SECOND)));
    assert_eq!(told(&policy, &states, 0, 2 * SECOND).at, Some(at(2 * SECOND)));
}

#[test]
fn new_limits_rule_from_the_look_on_that_finds_them() {
    let (old, new) = (throttled(1.0, seconds(1), 1.0), throttled(2.0, seconds(1), 1.0));
    let states = after(&old, 1);
    assert_eq!(told(&new, &states, 0, 0).at, Some(at(SECOND)), "tokens came at the old rate until then");
}

#[test]
fn time_alone_lifts_no_full_cap_and_no_rate_of_zero() {
    let full = told(&builder().concurrency(|c| c.max(2.0)).build().unwrap(), &GateStates::default(), 2, 0);
    assert_eq!((full.at, full.lasting[0].event), (None, Some(WakeEvent::Finish)));
    let zero = told(&throttled(0.0, seconds(1), 1.0), &GateStates::default(), 0, 0);
    assert_eq!((zero.at, zero.lasting.len()), (None, 1));
}
