//! The audit must say nothing of a run that kept every limit, and find whatever is planted in its record.

mod world;

use chrono::TimeDelta;

use super::super::rules::Route;
use world::World;

#[tokio::test]
async fn a_run_that_kept_every_limit_has_no_violation() {
    let world = World::new().await;
    for round in 0..3 {
        // As many as the caps and bursts allow.
        let at = world.begun + TimeDelta::seconds(round);
        let pushes = world.staged(Route::Pushes, 8).await;
        let issues = world.staged(Route::Issues, 25).await;
        let others = world.staged(Route::Others, 40).await;
        for jobs in [&pushes, &issues, &others] {
            let admissions = world.admit_at(jobs, at).await;
            world.receive(jobs).await;
            world.release(&admissions).await;
        }
    }
    // Times of the past and the future are not those of a transaction, which only the one check looks at.
    let found = world.audit().await;
    assert!(found.iter().all(|(check, _)| *check == "misdated"), "{found:?}");
}

#[tokio::test]
async fn an_honest_run_of_this_moment_has_none_at_all() {
    let world = World::new().await;
    for route in Route::ALL {
        let jobs = world.staged(route, 8).await;
        let admissions = world.admit(&jobs).await;
        world.receive(&jobs).await;
        world.release(&admissions).await;
    }
    assert_eq!(world.audit().await, []);
}

#[tokio::test]
async fn one_job_too_many_in_flight_is_a_violation() {
    let world = World::new().await;
    let jobs = world.staged(Route::Pushes, 9).await;
    let admissions = world.admit(&jobs[..8]).await;
    world.admit(&jobs[8..]).await;
    world.receive(&jobs).await;
    world.release(&admissions).await;
    let found = world.audit().await;
    assert_eq!(found[0], ("over_cap", 1));
    assert!(world.example("over_cap").await.contains("9 in flight where 8 are allowed"));
}

#[tokio::test]
async fn a_slot_that_is_being_given_back_is_held_until_that_is_committed() {
    let world = World::new().await;
    let jobs = world.staged(Route::Pushes, 9).await;
    let admissions = world.admit(&jobs[..8]).await;
    world.receive(&jobs[..1]).await;
    let mut other = world.db.pool().begin().await.unwrap();
    world.release_in(&mut other, &admissions[..1]).await;
    world.admit(&jobs[8..]).await;
    other.commit().await.unwrap();
    assert_eq!(world.audit().await, [("over_cap", 1)]);
}

#[tokio::test]
async fn a_slot_that_came_back_may_be_taken_again() {
    let world = World::new().await;
    let jobs = world.staged(Route::Pushes, 9).await;
    let admissions = world.admit(&jobs[..8]).await;
    world.receive(&jobs[..1]).await;
    world.release(&admissions[..1]).await;
    world.admit(&jobs[8..]).await;
    assert_eq!(world.audit().await, []);
}

#[tokio::test]
async fn admissions_that_did_not_see_each_other_are_a_violation() {
    let world = World::new().await;
    let jobs = world.staged(Route::Pushes, 2).await;
    let (mut one, mut other) =
        (world.db.pool().begin().await.unwrap(), world.db.pool().begin().await.unwrap());
    world.admit_in(&mut one, &jobs[..1]).await;
    world.admit_in(&mut other, &jobs[1..]).await;
    one.commit().await.unwrap();
    other.commit().await.unwrap();
    assert_eq!(world.audit().await, [("over_cap", 1)]);
    assert!(world.example("over_cap").await.contains("without seeing the admission before"));
}

#[tokio::test]
async fn an_admission_that_was_rolled_back_never_happened() {
    let world = World::new().await;
    let jobs = world.staged(Route::Pushes, 8).await;
    let mut given_up = world.db.pool().begin().await.unwrap();
    world.admit_in(&mut given_up, &jobs).await;
    given_up.rollback().await.unwrap();
    world.admit(&jobs).await;
    assert_eq!(world.audit().await, []);
}

#[tokio::test]
async fn a_token_taken_a_microsecond_early_is_a_violation() {
    for (early, violations) in [(0, None), (1, Some(1))] {
        let world = World::new().await;
        let jobs = world.staged(Route::Issues, 26).await;
        world.admit_at(&jobs[..25], world.begun).await;
        // 45 a second: the next token comes after 22.2222... ms.
        let at = world.begun + TimeDelta::microseconds(22_223 - early);
        world.admit_at(&jobs[25..], at).await;
        let found = world.audit().await;
        let over_rate = found.iter().find(|(check, _)| *check == "over_rate").map(|(_, count)| *count);
        assert_eq!(over_rate, violations, "{early} microseconds early");
    }
}

#[tokio::test]
async fn a_burst_in_the_middle_of_a_quiet_run_is_found() {
    let world = World::new().await;
    let jobs = world.staged(Route::Issues, 40).await;
    for (second, batch) in [(0, &jobs[..2]), (10, &jobs[2..29]), (20, &jobs[29..])] {
        world.admit_at(batch, world.begun + TimeDelta::seconds(second)).await;
    }
    assert!(world.audit().await.contains(&("over_rate", 2)));
    assert!(world.example("over_rate").await.contains("2.000 more than 25 at once and 45 a second"));
}

#[tokio::test]
async fn a_time_outside_the_transaction_is_a_violation() {
    let world = World::new().await;
    let jobs = world.staged(Route::Issues, 2).await;
    world.admit_at(&jobs[..1], world.begun - TimeDelta::hours(1)).await;
    world.admit_at(&jobs[1..], world.begun + TimeDelta::hours(1)).await;
    assert_eq!(world.audit().await, [("misdated", 2)]);
}

#[tokio::test]
async fn a_job_that_is_admitted_twice_is_a_violation() {
    let world = World::new().await;
    let jobs = world.staged(Route::Others, 1).await;
    for _ in 0..2 {
        let admissions = world.admit(&jobs).await;
        world.release(&admissions).await;
    }
    world.receive(&jobs).await;
    assert_eq!(world.audit().await, [("admitted_again", 1)]);
}

#[tokio::test]
async fn a_job_that_is_nowhere_is_a_violation() {
    let world = World::new().await;
    world.staged(Route::Others, 1).await;
    let jobs = world.staged(Route::Others, 1).await;
    let admissions = world.admit(&jobs).await;
    world.release(&admissions).await;
    assert_eq!(world.audit().await, [("lost", 2)]);
}

#[tokio::test]
async fn a_job_that_still_waits_or_runs_is_not_lost() {
    let world = World::new().await;
    world.wait(Route::Pushes, 3).await;
    let jobs = world.staged(Route::Pushes, 2).await;
    world.admit(&jobs).await;
    assert_eq!(world.audit().await, []);
}

#[tokio::test]
async fn a_delivery_past_the_gates_is_a_violation() {
    let world = World::new().await;
    let jobs = world.staged(Route::Pushes, 1).await;
    world.receive(&jobs).await;
    assert_eq!(world.audit().await, [("ungated", 1)]);
}

#[tokio::test]
async fn an_admission_that_nobody_staged_is_a_violation() {
    let world = World::new().await;
    let mut jobs = world.staged(Route::Pushes, 1).await;
    jobs[0].1 = Route::Others;
    let admissions = world.admit(&jobs).await;
    world.receive(&jobs).await;
    world.release(&admissions).await;
    assert_eq!(world.audit().await, [("strangers", 1)]);
}

#[tokio::test]
async fn a_slot_that_does_not_come_back_is_a_violation() {
    let world = World::new().await;
    let jobs = world.staged(Route::Others, 1).await;
    world.admit(&jobs).await;
    world.receive(&jobs).await;
    assert_eq!(world.audit().await, [("kept_slots", 1)]);
}

#[tokio::test]
async fn admissions_of_other_policies_are_not_recorded() {
    let world = World::new().await;
    world.admit_somebody_elses().await;
    assert_eq!(world.audit().await, []);
}
