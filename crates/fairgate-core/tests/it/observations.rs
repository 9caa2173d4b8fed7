//! Reading observations, and that their order does not matter.

use fairgate_core::{JobOutcome, Observation};
use proptest::prelude::*;

use crate::adaptive::{Seen, Tenant, json};
use crate::support::{SECOND, at, builder};

#[test]
fn an_observation_is_a_compact_array() {
    let text = r#"[1700000000000000,812.5,"s"]"#;
    let observation: Observation = serde_json::from_str(text).unwrap();
    let expected = Observation { admitted_at: at(0), lag_ms: 812.5, outcome: JobOutcome::Success };
    assert_eq!(observation, expected);
    assert_eq!(serde_json::to_string(&observation).unwrap(), text);
}

#[test]
fn entries_that_cannot_be_read_are_left_out() {
    let good = r#"[1700000000000000,1,"f"]"#;
    for bad in [
        "null",
        "7",
        "[]",
        "{}",
        r#"[1700000000000000,1]"#,
        r#"[1700000000000000,1,"f",0]"#,
        r#"[1700000000000000,1,"x"]"#,
        r#"[1.5,1,"f"]"#,
        r#"["1700000000000000",1,"f"]"#,
        r#"[9223372036854775807,1,"f"]"#,
        r#"[1700000000000000,null,"f"]"#,
        r#"[1700000000000000,1e400,"f"]"#,
    ] {
        let read = Observation::parse_all(Some(&format!("[{bad},{good},{bad}]")));
        assert_eq!(read.len(), 1, "{bad}");
        assert_eq!(read[0].outcome, JobOutcome::Failed);
    }
    for text in [None, Some(""), Some("{}"), Some("[[1,"), Some("[1e400")] {
        assert!(Observation::parse_all(text).is_empty(), "{text:?}");
    }
}

#[test]
fn clocks_that_disagree_give_no_negative_lag() {
    let read = Observation::parse_all(Some(r#"[[1700000000000000,-3,"s"],[1700000000000000,2,"i"]]"#));
    assert_eq!(read.iter().map(|o| o.lag_ms).collect::<Vec<_>>(), [0.0, 2.0]);
}

#[test]
fn a_list_that_cannot_be_read_never_fails_the_tick() {
    let mut tenant = Tenant::plain();
    tenant.tick(0, &[]);
    let before = tenant.state();
    let plan = fairgate_core::plan(
        &tenant.policy,
        &[fairgate_core::Claimed {
            gates: tenant.gates.clone(),
            in_flight: 4,
            observations: Some("not JSON".to_owned()),
            ..crate::support::claimed("k", 9)
        }],
        &crate::support::limits(None),
        at(0),
    );
    let settled = plan.settle(&[0]).remove(0);
    let states: serde_json::Value = serde_json::from_str(&settled.gates).unwrap();
    assert_eq!(states["adaptive_concurrency"], before);
}

#[test]
fn gates_that_learn_nothing_do_not_mind_observations() {
    let policy =
        builder().concurrency(|c| c.max(5.0)).throttle(|t| t.rate(1.0).per(crate::support::seconds(1)));
    let mut tenant = Tenant::of(policy.build().unwrap());
    assert_eq!(tenant.tick(0, &[(0, 1.0, "f")]), 1);
}

fn seen() -> impl Strategy<Value = Seen> {
    let outcome = prop::sample::select(vec!["s", "f", "i"]);
    (0_i64..5, 0_u32..40, outcome)
        .prop_map(|(admitted, lag, outcome)| (admitted * SECOND / 2, f64::from(lag) * 100.0, outcome))
}

proptest! {
    #[test]
    fn the_order_in_which_workers_reported_does_not_matter(
        jobs in prop::collection::vec(seen(), 0..30),
        swaps in prop::collection::vec((0_usize..30, 0_usize..30), 0..60),
        every_job in any::<bool>(),
    ) {
        let new = || {
            let mut tenant = if every_job { Tenant::every_job(10.0) } else { Tenant::plain() };
            tenant.tick(0, &[]);
            tenant
        };
        let mut shuffled = jobs.clone();
        for (a, b) in swaps {
            if a < jobs.len() && b < jobs.len() {
                shuffled.swap(a, b);
            }
        }
        let (mut one, mut other) = (new(), new());
        one.tick(9 * SECOND, &jobs);
        other.tick(9 * SECOND, &shuffled);
        prop_assert_eq!(&one.gates, &other.gates, "{} {}", json(&jobs), json(&shuffled));
    }

    #[test]
    fn the_cap_stays_within_its_bounds_whatever_is_reported(
        ticks in prop::collection::vec(prop::collection::vec(seen(), 0..6), 1..40),
        every_job in any::<bool>(),
    ) {
        let policy = builder().adaptive_concurrency(|a| {
            a.initial_max(4.0).target_lag_ms(1_000.0).min(2.0).max(9.0).every_job(every_job)
        });
        let mut tenant = Tenant::of(policy.build().unwrap());
        for (at, jobs) in ticks.iter().enumerate() {
            tenant.tick(at as i64 * SECOND / 4, jobs);
            prop_assert!((2..=9).contains(&tenant.cap()));
            prop_assert!(tenant.in_flight <= 9);
            tenant.in_flight = (tenant.in_flight - jobs.len() as i64).max(0);
        }
    }
}
