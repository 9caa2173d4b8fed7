//! What is stored: readable, total, and in no order that matters.

use fairgate_core::fairness::weighted::{
    Cost, Entrant, LaneAdvance, LaneState, LaneTotals, PartitionState, Room, Samples, VirtualTime, offers,
};

use crate::measure::windows;
use crate::sim::{Dice, Tenant, World};

const ROOM: Room = Room { budget: Some(20), queue: None, admission_batch_size: 100 };

fn entrant(weight: f64, waiting: u64) -> Entrant {
    Entrant {
        state: PartitionState::default(),
        weight,
        waiting,
        allowance: u64::MAX,
        in_flight: 0,
        correction: 0.0,
        finished: Samples::default(),
    }
}

#[test]
fn states_are_objects_of_plain_numbers_and_what_is_left_out_is_new() {
    let partition = serde_json::to_string(&PartitionState::default()).unwrap();
    let stored =
        r#"{"s":"0","s_weight":0.0,"est":1.0,"est_n":0,"was_empty":true,"seen_round":0,"counted_round":0}"#;
    assert_eq!(partition, stored);
    assert_eq!(serde_json::from_str::<PartitionState>("{}").unwrap(), PartitionState::default());
    assert_eq!(serde_json::from_str::<LaneState>("{}").unwrap(), LaneState::default());
    let mut world = World::new(vec![Tenant::new(1.0), Tenant::new(3.5)]);
    world.run_ticks(5);
    let lane = serde_json::to_string(&world.lane).unwrap();
    assert_eq!(serde_json::from_str::<LaneState>(&lane).unwrap(), world.lane);
    let state = &world.tenants[1].state;
    let text = serde_json::to_string(state).unwrap();
    assert_eq!(serde_json::from_str::<PartitionState>(&text).unwrap(), *state);
}

#[test]
fn virtual_time_tells_the_smallest_step_apart_after_ages_and_never_overflows() {
    let ages = VirtualTime::ZERO.plus(1e20);
    assert_eq!(ages.plus(1e-9).since(ages), 1e-9);
    assert_eq!(ages.plus(f64::NAN), ages);
    let mut end = ages;
    for _ in 0..2_000_000 {
        end = end.plus(f64::INFINITY);
    }
    assert_eq!(end.plus(1.0), end);
    assert!(end.since(VirtualTime::ZERO).is_finite());
    assert_eq!("1500000000000".parse::<VirtualTime>().unwrap(), VirtualTime::ZERO.plus(1.5));
}

#[test]
fn nothing_that_comes_in_makes_a_number_that_is_not_finite_or_takes_more_than_the_room() {
    let nasty = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e-300, 1e300, 1e-6, 1.0, 1e6];
    let counts = [0, 1, 7, u64::MAX];
    let mut dice = Dice::new(1);
    let mut lane = LaneState::default();
    let mut states = vec![PartitionState::default(); 12];
    for tick in 0..3_000 {
        let cost = dice.pick(&[Cost::Jobs, Cost::Time]);
        let entrants: Vec<Entrant> = states
            .iter()
            .map(|state| Entrant {
                state: state.clone(),
                weight: dice.pick(&nasty),
                waiting: dice.pick(&counts),
                allowance: dice.pick(&counts),
                in_flight: dice.pick(&counts),
                correction: dice.pick(&nasty),
                finished: Samples { jobs: dice.pick(&[0, 1, 9, u32::MAX]), seconds: dice.pick(&nasty) },
            })
            .collect();
        let totals =
            (tick % 3 == 0).then(|| LaneTotals { weight: dice.pick(&nasty), weighed: 3, partitions: 12 });
        let room = Room { queue: dice.pick(&[None, Some(0), Some(9)]), ..ROOM };
        let offers = offers(cost, &lane, totals, &entrants, &room);
        let taken: Vec<u32> = offers.each().iter().map(|offer| offer.jobs).collect();
        let most = room.queue.unwrap_or(20).min(20);
        assert!(taken.iter().sum::<u32>() <= most);
        for (entrant, &jobs) in entrants.iter().zip(&taken) {
            assert!(u64::from(jobs) <= entrant.waiting.min(entrant.allowance));
        }
        let settled = offers.settle(&taken);
        lane = settled.advance.apply(&lane);
        assert!(
            [lane.v_round, lane.pace, lane.elastic.w, lane.elastic.c].iter().all(|number| number.is_finite())
        );
        for (state, partition) in states.iter_mut().zip(settled.partitions) {
            *state = partition.state;
            assert!([state.est, state.s_weight, partition.charged].iter().all(|number| *number > 0.0));
            assert!(state.est.is_finite() && partition.charged.is_finite());
        }
    }
}

#[test]
fn the_order_in_which_advances_reach_the_lane_does_not_matter() {
    let lane = LaneState::default();
    let advance = |weight, waiting, totals| {
        let offers = offers(Cost::Jobs, &lane, totals, &[entrant(weight, waiting)], &ROOM);
        offers.settle(&[offers.each()[0].jobs]).advance
    };
    let (a, b) = (advance(2.0, 100, None), advance(3.0, 50, None));
    let mut both = a.clone();
    both.merge(b.clone());
    let lanes = [a.apply(&b.apply(&lane)), b.apply(&a.apply(&lane)), both.apply(&lane)];
    for moved in &lanes {
        assert_eq!((moved.v, moved.acc, moved.acc_min), (lanes[0].v, lanes[0].acc, lanes[0].acc_min));
        assert_eq!((moved.round_no, moved.acc.w), (1, 5.0));
    }
    assert!(LaneAdvance::default().is_empty() && !both.is_empty());
}

#[test]
fn a_straggler_of_the_last_round_is_counted_in_it() {
    let first = offers(Cost::Jobs, &LaneState::default(), None, &[entrant(2.0, 100)], &ROOM).settle(&[20]);
    let late = offers(Cost::Jobs, &LaneState::default(), None, &[entrant(3.0, 100)], &ROOM).settle(&[20]);
    let lane = first.advance.apply(&LaneState::default());
    let again = Entrant { state: first.partitions[0].state.clone(), ..entrant(2.0, 80) };
    let second = offers(Cost::Jobs, &lane, None, &[again], &ROOM).settle(&[20]);
    let lane = second.advance.apply(&lane);
    assert_eq!((lane.round_no, lane.elastic.w), (2, 2.0));
    let lane = late.advance.apply(&lane);
    assert_eq!((lane.elastic.w, lane.elastic.n, lane.acc.w), (5.0, 2, 2.0));
}

#[test]
fn without_a_budget_the_tick_has_a_batch_for_each_and_weights_divide_it() {
    let entrants = [entrant(1.0, 1000), entrant(3.0, 1000)];
    let room = Room { budget: None, queue: None, admission_batch_size: 100 };
    let offers = offers(Cost::Jobs, &LaneState::default(), None, &entrants, &room);
    let jobs: Vec<u32> = offers.each().iter().map(|offer| offer.jobs).collect();
    assert_eq!(jobs.iter().sum::<u32>(), 200);
    assert!(jobs[0].abs_diff(50) <= 1, "{jobs:?}");
    assert!(offers.each().iter().all(|offer| offer.no_room && !offer.ahead && !offer.unknown));
}

#[test]
fn the_heaviest_weight_among_the_lightest_keeps_its_share_after_ages() {
    let mut world = World::new([1e-6, 1e6, 5e5].map(Tenant::new).to_vec());
    world.lane.v = VirtualTime::ZERO.plus(1e20);
    world.run_ticks(50);
    let from = world.admitted();
    world.run_ticks(300);
    let window = &windows(&[from, world.admitted()], &world.weights(), 1)[0];
    assert!(window.error(0.01) <= 2.0, "{:?} instead of {:?}", window.got, window.fair);
}

#[test]
fn a_partition_with_jobs_of_unknown_length_has_at_most_four_in_flight() {
    for (in_flight, jobs) in [(0, 4), (3, 1), (4, 0), (9, 0)] {
        let partition = Entrant { in_flight, ..entrant(1.0, 100) };
        let offers = offers(Cost::Time, &LaneState::default(), None, &[partition], &ROOM);
        assert_eq!((offers.each()[0].jobs, offers.each()[0].unknown), (jobs, true));
    }
    let finished = Samples { jobs: 1, seconds: 30.0 };
    let known = Entrant { in_flight: 4, finished, correction: 29.0, ..entrant(1.0, 100) };
    let offers = offers(Cost::Time, &LaneState::default(), None, &[known], &ROOM);
    assert_eq!((offers.each()[0].jobs, offers.each()[0].unknown), (20, false));
    assert_eq!(offers.settle(&[20]).partitions[0].charged, 30.0);
}
