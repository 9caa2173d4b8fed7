//! The conformance suite: what every queue adapter must do, run against the queue's own tables by a worker that is played through the queue's own
//! published SQL ([`Protocol`]). A new adapter writes one protocol and one line: [`conformance!`](crate::conformance!).

mod admission;
mod ends;
mod hooks;
mod own;
mod protocol;
mod retries;
mod world;

pub use admission::*;
pub use ends::*;
pub use hooks::*;
pub use own::*;
pub use protocol::{
    Protocol, apalis, good_job, graphile_worker, oban, pg_boss, pgmq, procrastinate, river, solid_queue,
    underway,
};
pub use retries::*;
pub use world::World;

/// A module of tests, one for each claim of the suite, for one protocol.
#[macro_export]
macro_rules! conformance {
    ($name:ident) => {
        $crate::conformance!($name:
            a_batch_is_handed_over_by_the_ticks_commit,
            a_tick_that_fails_leaves_nothing_in_the_queue,
            a_job_and_its_row_in_the_queue_name_each_other,
            payloads_priorities_and_names_arrive_as_they_were_staged,
            jobs_go_straight_to_the_queue_while_disabled,
            a_start_is_seen_with_its_lag_and_a_success_frees_the_slot,
            a_slot_is_freed_once_whatever_comes_after,
            a_worker_that_ends_many_jobs_in_one_transaction_frees_them_at_its_commit,
            a_job_that_is_removed_or_purged_frees_its_slot,
            a_job_that_nobody_told_us_of_is_found_by_the_sweep,
            a_job_of_somebody_else_is_left_alone,
            a_policy_that_needs_what_the_queue_cannot_show_is_refused,
            a_failed_attempt_goes_back_into_staging_and_through_the_gates,
            with_bypass_the_queue_retries_and_the_slot_is_held,
            a_dead_job_frees_its_slot_and_a_revived_one_passes_the_gates_again,
            a_lost_worker_is_replaced_by_the_queues_own_rescue,
            hooks_are_installed_and_removed_while_jobs_run,
            a_hook_that_cannot_do_its_work_never_fails_the_worker,
            a_worker_without_rights_on_our_schema_frees_slots,
            tables_of_an_unknown_shape_are_refused_with_the_column_named,
            the_doctor_finds_a_sound_queue_sound_and_a_disabled_trigger);
    };
    ($name:ident: $($claim:ident),* $(,)?) => {
        mod $name {
            $(#[tokio::test]
            async fn $claim() {
                $crate::conformance::$claim($crate::conformance::$name()).await;
            })*
        }
    };
}
