use fairgate_core::{Claimed, DenyReason, HalfLife, Limits, plan};
use proptest::prelude::*;

use crate::support::{SECOND, at, builder, claimed, context, limits, seconds, throttled};

fn ranks(claimed: &[Claimed], limits: &Limits) -> Vec<u32> {
    let policy = builder().build().unwrap();
    let plan = plan(&policy, claimed, limits, at(60 * SECOND));
    plan.looks.iter().map(|look| look.rank).collect()
}

fn takes(claimed: &[Claimed], limits: &Limits) -> Vec<u32> {
    let policy = builder().build().unwrap();
    let plan = plan(&policy, claimed, limits, at(60 * SECOND));
    plan.looks.iter().map(|look| look.take).collect()
}

fn active(recent: f64, recent_at: i64, starved: bool) -> Claimed {
    Claimed { recent, recent_at: at(recent_at), starved, ..claimed("k", 10) }
}

#[test]
fn least_recent_activity_goes_first_decayed_to_now() {
    let partitions = [
        active(10.0, 60 * SECOND, false),
        active(16.0, 0, false),
        active(0.0, 0, false),
        active(0.0, 0, false),
    ];
    assert_eq!(ranks(&partitions, &limits(None)), [3, 2, 0, 1], "ties as claimed");
}

#[test]
fn those_that_the_budget_starved_go_first_by_recent_activity() {
    let partitions = [active(0.0, 0, false), active(900.0, 0, true), active(100.0, 0, true)];
    assert_eq!(ranks(&partitions, &limits(None)), [2, 1, 0]);
}

#[test]
fn without_a_half_life_claim_order_counts_behind_the_starved() {
    let none = Limits { half_life: HalfLife::None.duration(), ..limits(None) };
    let partitions =
        [active(9.0, 0, false), active(1.0, 0, false), active(9.0, 0, true), active(1.0, 0, true)];
    assert_eq!(ranks(&partitions, &none), [2, 3, 0, 1]);
}

#[test]
fn without_a_budget_each_gets_up_to_a_batch() {
    let partitions = [claimed("a", 1000), claimed("b", 7), claimed("c", 0), claimed("d", -5)];
    assert_eq!(takes(&partitions, &limits(None)), [100, 7, 0, 0]);
}

#[test]
fn the_budget_caps_a_tick_and_the_batch_size_does_not_cut_it_further() {
    assert_eq!(takes(&[claimed("a", 1000), claimed("b", 7)], &limits(Some(200))), [193, 7]);
    assert_eq!(takes(&[claimed("a", 1000), claimed("b", 1000)], &limits(Some(3))), [2, 1]);
}

#[test]
fn what_the_budget_leaves_out_is_counted_and_served_first_next_time() {
    let policy = builder().build().unwrap();
    let mut partitions = vec![claimed("a", 10), claimed("b", 10), claimed("c", 10)];
    let first = plan(&policy, &partitions, &limits(Some(2)), at(0));
    let reasons: Vec<_> =
        first.looks.iter().map(|look| look.denial.as_ref().map(|denial| denial.reason)).collect();
    assert_eq!(reasons, [None, None, Some(DenyReason::TickCapExhausted)]);
    for (partition, settled) in partitions.iter_mut().zip(first.settle(&[1, 1, 0])) {
        partition.starved = settled.starved;
        partition.recent = settled.recent;
        partition.pending = 10;
    }
    partitions[2].recent = 1e6;
    let second = plan(&policy, &partitions, &limits(Some(2)), at(0));
    assert_eq!(second.looks[2].rank, 0);
    assert_eq!(second.looks[2].take, 1);
}

#[test]
fn a_partition_that_a_gate_denies_or_that_has_nothing_is_not_starved_by_the_budget() {
    let policy = builder().concurrency(|c| c.max_from("max", 5.0)).build().unwrap();
    let full = Claimed { in_flight: 5, ..claimed("full", 10) };
    let partitions = [claimed("busy", 100), full, claimed("empty", 0)];
    let plan = plan(&policy, &partitions, &limits(Some(1)), at(0));
    let settled = plan.settle(&[1, 0, 0]);
    assert!(settled.iter().all(|settlement| !settlement.starved));
    let denial = plan.looks[1].denial.as_ref().unwrap();
    assert_eq!(denial.reason, DenyReason::ConcurrencyFull);
    assert_eq!(plan.looks[2].denial, None);
}

#[test]
fn fairness_and_gates_compose_each_in_its_own_state() {
    let policy = throttled(1.0, seconds(60), 3.0);
    let with_gates = |gates: Option<String>| Claimed { gates, ..claimed("k", 100) };
    let first = plan(&policy, &[with_gates(None), with_gates(None)], &limits(Some(4)), at(0));
    assert_eq!([first.looks[0].take, first.looks[1].take], [2, 2]);
    let settled = first.settle(&[2, 1]);
    let partitions: Vec<_> = settled.iter().map(|s| with_gates(Some(s.gates.clone()))).collect();
    let second = plan(&policy, &partitions, &limits(Some(10)), at(0));
    assert_eq!([second.looks[0].take, second.looks[1].take], [1, 2], "charged for what was taken");
}

proptest! {
    #[test]
    fn a_look_never_takes_more_than_waits_or_the_gates_or_the_budget_allow(
        partitions in prop::collection::vec((-2_i64..50, 0_i64..12, 0_u32..10, any::<bool>()), 0..40),
        budget in prop::option::of(1_u32..200),
    ) {
        let policy = builder().concurrency(|c| c.max_from("max", None)).build().unwrap();
        let claimed: Vec<_> = partitions
            .iter()
            .map(|&(pending, in_flight, max, starved)| Claimed {
                context: context(&format!(r#"{{"max":{max}}}"#)),
                in_flight,
                starved,
                ..claimed("k", pending)
            })
            .collect();
        let plan = plan(&policy, &claimed, &limits(budget), at(0));
        let mut total = 0;
        for (look, (pending, in_flight, max, _)) in plan.looks.iter().zip(&partitions) {
            let free = (i64::from(*max) - in_flight).max(0).min((*pending).max(0));
            prop_assert!(i64::from(look.take) <= free);
            prop_assert!(look.take == 0 || look.denial.is_none());
            prop_assert_eq!(look.take == 0 && *pending > 0, look.denial.is_some());
            total += u64::from(look.take);
        }
        prop_assert!(total <= budget.map_or(u64::MAX, u64::from));
        let mut ranks: Vec<_> = plan.looks.iter().map(|look| look.rank as usize).collect();
        ranks.sort_unstable();
        prop_assert!(ranks.into_iter().eq(0..claimed.len()));
    }
}
