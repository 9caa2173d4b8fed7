use std::time::Duration;

use fairgate_core::fairness::{decayed, everybody_gets_one, offers};
use proptest::prelude::*;

use crate::support::seconds;

const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

#[test]
fn activity_is_forgotten_by_half_every_half_life() {
    assert_eq!(decayed(8.0, seconds(0), MINUTE), 8.0);
    assert!((decayed(8.0, seconds(60), MINUTE) - 4.0).abs() < 1e-9);
    assert!((decayed(8.0, seconds(180), MINUTE) - 1.0).abs() < 1e-9);
}

#[test]
fn years_of_idling_and_broken_numbers_leave_nothing() {
    assert_eq!(decayed(1e300, seconds(365 * 86_400), MINUTE), 0.0);
    assert_eq!(decayed(1.0, Duration::MAX, Some(Duration::from_nanos(1))), 0.0);
    assert_eq!(decayed(1.0, seconds(62_400), MINUTE), 0.0, "too small for the database");
    for broken in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!(decayed(broken, seconds(1), MINUTE), 0.0);
    }
    assert_eq!(decayed(8.0, seconds(0), None), 0.0);
    assert_eq!(decayed(8.0, seconds(0), Some(Duration::ZERO)), 0.0);
}

#[test]
fn the_first_offer_is_the_rounded_up_share_in_order() {
    assert_eq!(offers(&[9, 9, 9], 7), [3, 3, 1]);
    assert_eq!(offers(&[9, 9, 9], 2), [1, 1, 0]);
    assert_eq!(offers(&[9, 9, 9], 0), [0, 0, 0]);
    assert!(offers(&[], 5).is_empty());
}

#[test]
fn what_is_left_goes_to_those_that_took_their_whole_offer_until_it_is_gone() {
    assert_eq!(offers(&[1, 100, 0, 100], 100), [1, 50, 0, 49]);
    assert_eq!(offers(&[1, 2, 3, 1000], 500), [1, 2, 3, 494]);
    let mut demands = vec![0; 50];
    demands[..10].fill(1000);
    let given = offers(&demands, 500);
    assert_eq!(given[..10], [50; 10], "40 of 50 are throttled and nothing is lost");
}

proptest! {
    #[test]
    fn no_budget_is_left_while_there_is_demand(
        demands in prop::collection::vec(0_u64..200, 0..60),
        budget in 0_u64..5_000,
    ) {
        let given = offers(&demands, budget);
        prop_assert_eq!(given.iter().sum::<u64>(), budget.min(demands.iter().sum()));
        prop_assert!(given.iter().zip(&demands).all(|(given, demand)| given <= demand));
    }

    #[test]
    fn whoever_got_less_than_a_later_one_wanted_no_more(
        demands in prop::collection::vec(0_u64..200, 0..60),
        budget in 0_u64..5_000,
    ) {
        let given = offers(&demands, budget);
        for earlier in 0..given.len() {
            for later in earlier + 1..given.len() {
                prop_assert!(given[earlier] >= given[later] || given[earlier] == demands[earlier]);
            }
        }
    }

    #[test]
    fn decay_does_not_depend_on_how_often_it_is_applied(value in 0.0_f64..1e6, a in 0_u64..1000, b in 0_u64..1000) {
        let once = decayed(value, seconds(a + b), MINUTE);
        let twice = decayed(decayed(value, seconds(a), MINUTE), seconds(b), MINUTE);
        prop_assert!((once - twice).abs() <= 1e-9 * value.max(1.0));
    }
}

proptest! {
    #[test]
    fn who_is_sure_to_get_one_gets_one_whatever_the_others_want(budget in 1..40_u64, others in prop::collection::vec(0..60_u64, 0..20), place in any::<prop::sample::Index>()) {
        let at = place.index(others.len() + 1);
        let mut demands = others;
        demands.insert(at, 1);
        let sure = everybody_gets_one(budget, demands.len() as u64);
        prop_assert!(!sure || offers(&demands, budget)[at] == 1);
        let greedy: Vec<u64> = demands.iter().map(|_| budget).collect();
        prop_assert_eq!(sure, offers(&greedy, budget).iter().all(|jobs| *jobs > 0));
    }
}
