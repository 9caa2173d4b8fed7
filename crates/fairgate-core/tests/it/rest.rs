use fairgate_core::{GateStates, at_rest};
use proptest::prelude::*;

use crate::support::{Partition, SECOND, at, builder, context, seconds, throttled};

fn rests(partition: &Partition, now: i64) -> bool {
    let states = GateStates::parse(partition.states.as_deref());
    at_rest(&partition.policy, &states, at(now))
}

#[test]
fn a_bucket_is_at_rest_from_the_instant_it_is_full_again() {
    let mut partition = Partition::of(&throttled(1.0, seconds(60), 5.0));
    assert!(rests(&partition, 0), "new");
    partition.take(0, 7);
    assert!(!rests(&partition, 420 * SECOND - 1), "a debt counts");
    assert!(rests(&partition, 420 * SECOND));
}

#[test]
fn the_limits_stored_with_the_bucket_decide_whatever_the_policy_says_now() {
    let policy = builder().throttle(|t| t.rate_from("rate", None).per(seconds(60)).burst(2.0));
    let mut partition = Partition::of(&policy.build().unwrap());
    partition.context = context(r#"{"rate":1}"#);
    partition.take(0, 1);
    partition.policy = throttled(1_000_000.0, seconds(1), 2.0);
    assert!(!rests(&partition, 59 * SECOND));
    assert!(rests(&partition, 60 * SECOND));
}

#[test]
fn states_of_gates_that_are_gone_and_garbled_ones_do_not_count() {
    let mut partition = Partition::of(&throttled(1.0, seconds(60), 5.0));
    partition.take(0, 5);
    assert!(!rests(&partition, 0));
    partition.policy = builder().concurrency(|c| c.max(1.0)).build().unwrap();
    assert!(rests(&partition, 0));
    let mut garbled = Partition::of(&throttled(1.0, seconds(60), 5.0));
    garbled.states = Some("?".to_owned());
    assert!(rests(&garbled, 0));
}

proptest! {
    #[test]
    fn forgetting_a_partition_at_rest_changes_no_answer(
        rate in 0.01_f64..100.0,
        burst in 1.0_f64..20.0,
        taken in 0_u64..30,
        after in 0_i64..3_000,
    ) {
        let mut kept = Partition::of(&throttled(rate, seconds(10), burst));
        kept.take(0, taken);
        let now = after * SECOND;
        if rests(&kept, now) {
            let new = Partition::of(&kept.policy);
            prop_assert_eq!(kept.allowance(now), new.allowance(now));
        }
    }
}
