use fairgate_core::gate::Facts;
use fairgate_core::pipeline::GateStates;
use fairgate_core::tick_plan::forced;
use fairgate_core::{Claimed, DenyReason};

use crate::support::{SECOND, at, builder, claimed, limits, seconds, throttled};

#[test]
fn a_forced_plan_takes_what_it_is_told_whatever_the_gates_say() {
    let policy = builder().concurrency(|c| c.max(1.0)).build().unwrap();
    let full = Claimed { in_flight: 1, ..claimed("a", 9) };
    let plan = forced(&policy, &[full, claimed("b", 9)], &[7], None, &limits(Some(1)), at(0));
    assert_eq!(plan.looks.iter().map(|look| look.take).collect::<Vec<_>>(), [7, 0]);
    assert_eq!(plan.looks[0].limits, r#"{"concurrency":1}"#, "the limit that was passed over is kept");
    let settled = plan.settle(&[7, 0]).remove(0);
    let denial = settled.denial.unwrap();
    assert_eq!((denial.reason, denial.used), (DenyReason::ConcurrencyFull, Some(8.0)));
}

#[test]
fn a_bucket_is_charged_below_zero_and_the_debt_is_waited_out() {
    let policy = throttled(1.0, seconds(1), 2.0);
    let plan = forced(&policy, &[claimed("a", 20)], &[5], None, &limits(None), at(0));
    let settled = plan.settle(&[5]).remove(0);
    assert_eq!(settled.eligible_at, Some(at(4 * SECOND)), "three are owed, and one more must come");
    let states = GateStates::parse(Some(&settled.gates));
    let context = fairgate_core::Context::empty();
    let facts = Facts { context: &context, pending: 15, in_flight: 5 };
    let allowance = |now| fairgate_core::pipeline::decide(&policy, &facts, &states, at(now)).allowance;
    assert_eq!((allowance(4 * SECOND - 1), allowance(4 * SECOND)), (0, 1));
}
