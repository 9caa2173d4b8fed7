//! The torture of the engine, and proofs that it would find what it looks for.

use std::path::Path;

use fairgate_testkit::TestDb;
use fairgate_testkit::torture::script::{Meanwhile, pass_beside_a_change, play};
use fairgate_testkit::torture::{Fault, Outcome, Plan, Sabotage, torture};
use tokio::sync::Mutex;

/// Every run needs the whole machine.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

async fn run(plan: Plan) -> Outcome {
    let _alone = ONE_AT_A_TIME.lock().await;
    let db = TestDb::new().await;
    let outcome = torture(&db, Path::new(env!("CARGO_BIN_EXE_torture-actor")), plan).await;
    eprintln!("{outcome}");
    outcome
}

/// Every run rests on chance: on a busy machine one may be too slow to come near a limit. A torture worth having finds the fault within a few.
async fn assert_caught(sabotage: Sabotage, fault: Fault) {
    for _ in 0..6 {
        if run(Plan::with(sabotage)).await.has(fault) {
            return;
        }
    }
    panic!("six runs with {sabotage:?} did not find {fault:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_promise_is_kept_under_torture() {
    let outcome = run(Plan::from_environment()).await;
    assert!(outcome.problems.is_empty(), "{outcome}");
    let (tally, havoc) = (&outcome.tally, &outcome.havoc);
    assert!(tally.admitted > 300 && tally.dead > 0 && tally.cancelled > 0, "{outcome}");
    assert!(tally.removed > 0 || tally.strangers > 0, "{outcome}");
    assert!(havoc.terminated > 0 && havoc.tickers_killed > 0 && havoc.workers_killed > 0, "{outcome}");
    assert!(havoc.frozen > 0 && outcome.operations.0 > 0 && outcome.operations.1 > 0, "{outcome}");
    assert!(outcome.audits > 0, "{outcome}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_counts_rows_is_caught() {
    assert_caught(Sabotage::CountInClaim, Fault::OverLimit).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finisher_that_skips_locked_slots_is_caught() {
    assert_caught(Sabotage::SkippingRelease, Fault::SlotLeft).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tick_that_forgets_buckets_is_caught() {
    assert_caught(Sabotage::ForgottenBuckets, Fault::OverRate).await;
}

#[tokio::test]
async fn a_claim_that_counts_rows_misses_a_slot_taken_after_its_snapshot() {
    let played = play(2, Meanwhile::AnotherAdmits, Some(Sabotage::CountInClaim)).await;
    assert_eq!(played.problems.iter().map(|p| p.fault).collect::<Vec<_>>(), [Fault::OverLimit], "{played:?}");
    assert_eq!(played.in_flight, 3);
}

#[tokio::test]
async fn a_claim_that_reads_contexts_in_its_snapshot_misses_a_limit_lowered_after_it() {
    let played = play(5, Meanwhile::MaxBecomes(1), Some(Sabotage::ContextInClaim)).await;
    let faults: Vec<Fault> = played.problems.iter().map(|p| p.fault).collect();
    assert_eq!(faults, [Fault::OverLimit, Fault::OtherLimit], "{played:?}");
    assert_eq!(played.in_flight, 5);
}

#[tokio::test]
async fn a_claim_that_reads_contexts_in_its_snapshot_leaves_jobs_waiting_under_a_raised_limit() {
    let played = play(0, Meanwhile::MaxBecomes(3), Some(Sabotage::ContextInClaim)).await;
    assert_eq!(played.later_in_flight, 0);
}

#[tokio::test]
async fn a_claim_knows_a_slot_taken_after_its_snapshot() {
    let played = play(2, Meanwhile::AnotherAdmits, None).await;
    assert_eq!(played.problems, []);
    assert_eq!(played.in_flight, 2);
}

#[tokio::test]
async fn a_claim_knows_a_limit_lowered_after_its_snapshot() {
    let played = play(5, Meanwhile::MaxBecomes(1), None).await;
    assert_eq!(played.problems, []);
    assert_eq!(played.in_flight, 1);
}

#[tokio::test]
async fn a_limit_raised_after_a_claims_snapshot_lets_jobs_go_without_waiting() {
    let played = play(0, Meanwhile::MaxBecomes(3), None).await;
    assert_eq!(played.problems, []);
    assert_eq!(played.later_in_flight, 3);
}

#[tokio::test]
async fn a_policy_that_is_being_changed_holds_up_no_other() {
    assert_eq!(pass_beside_a_change().await, ["other"]);
}
