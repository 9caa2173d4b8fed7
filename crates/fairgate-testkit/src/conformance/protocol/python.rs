use fairgate::queue::Procrastinate;

use super::{BY_TICKET, Protocol};

/// Procrastinate 3, through its own functions.
pub fn procrastinate() -> Protocol {
    Protocol {
        queue: || Box::new(Procrastinate::new("public").expect("a name")),
        install: include_str!("../../../../fairgate-cli/fixtures/queues/procrastinate/install.sql"),
        fetch: "SELECT id::text, args::text
                  FROM procrastinate_fetch_job_v2(NULL, (SELECT worker_id FROM procrastinate_register_worker_v1())) WHERE id IS NOT NULL",
        succeed: "SELECT procrastinate_finish_job_v1({id}, 'succeeded', false)",
        fail: "SELECT procrastinate_retry_job_v2({id}, now() + interval '5 seconds', NULL, NULL, NULL)",
        die: "SELECT procrastinate_finish_job_v1({id}, 'failed', false)",
        remove: "SELECT procrastinate_cancel_job_v1({id}, false, false)",
        purge: "DELETE FROM procrastinate_jobs WHERE status = 'todo'",
        vanish: "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'",
        rescue: "SELECT procrastinate_prune_stalled_workers_v1(30);
                 SELECT procrastinate_retry_job_v2(id, now(), NULL, NULL, NULL) FROM procrastinate_jobs WHERE status = 'doing' AND worker_id IS NULL",
        ripen: "UPDATE procrastinate_jobs SET scheduled_at = now() WHERE scheduled_at IS NOT NULL",
        revive: Some("SELECT procrastinate_retry_job_v2({id}, now(), NULL, NULL, NULL)"),
        foreign: "SELECT procrastinate_defer_jobs_v1(ARRAY[('default', 'work', 0, NULL, NULL, '{\"theirs\": true}', NULL)]::procrastinate_job_to_defer_v1[])",
        rows: "SELECT to_json(j)::text FROM procrastinate_jobs j",
        waiting: "SELECT id::text FROM procrastinate_jobs WHERE status IN ('todo', 'doing') ORDER BY id",
        admission: BY_TICKET,
        misshape: (
            "ALTER TABLE procrastinate_jobs RENAME COLUMN args TO arguments",
            "procrastinate_jobs.args should be a column of type jsonb",
        ),
        keeps_errors: false,
        backs_off: true,
    }
}
