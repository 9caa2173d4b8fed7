use fairgate::queue::{Apalis, Underway};

use super::{BY_TICKET, Protocol};

/// Apalis with apalis-postgres 1.
pub fn apalis() -> Protocol {
    Protocol {
        queue: || Box::new(Apalis::new("apalis").expect("a name")),
        install: include_str!("../../../../fairgate-cli/fixtures/queues/apalis/install.sql"),
        fetch: "INSERT INTO apalis.workers (id, worker_type, storage_name, last_seen) VALUES ('w', 'work', 'postgres', now())
                    ON CONFLICT (id) DO UPDATE SET last_seen = now();
                SELECT id, convert_from(job, 'UTF8') FROM apalis.get_jobs('w', 'work', 1);
                UPDATE apalis.jobs SET status = 'Running', lock_at = now() WHERE status = 'Queued'",
        succeed: "UPDATE apalis.jobs SET status = 'Done', attempts = attempts + 1, last_result = '{\"Ok\": null}', done_at = now() WHERE id = '{id}' AND lock_by = 'w'",
        fail: FAIL,
        die: FAIL,
        remove: "DELETE FROM apalis.jobs WHERE id = '{id}'",
        purge: "DELETE FROM apalis.jobs",
        vanish: "UPDATE apalis.workers SET last_seen = now() - interval '1 hour'",
        rescue: "UPDATE apalis.jobs j SET status = 'Pending', done_at = NULL, lock_by = NULL, lock_at = NULL, attempts = attempts + 1,
                        last_result = '{\"Err\": \"Re-enqueued due to worker heartbeat timeout.\"}'
                   FROM apalis.workers w
                  WHERE w.id = j.lock_by AND j.status IN ('Running', 'Queued') AND now() - w.last_seen >= interval '5 minutes'",
        ripen: "UPDATE apalis.jobs SET run_at = now() - interval '1 second'",
        revive: Some("UPDATE apalis.jobs SET status = 'Pending', attempts = 0, done_at = NULL, lock_by = NULL WHERE id = '{id}'"),
        foreign: "INSERT INTO apalis.jobs (id, job_type, job, run_at, max_attempts)
                  VALUES (apalis.generate_ulid(), 'work', '{\"theirs\": true}', now() - interval '1 second', 25)",
        rows: "SELECT to_json(j)::text FROM apalis.jobs j",
        waiting: "SELECT id FROM apalis.jobs
                   WHERE status IN ('Pending', 'Queued', 'Running') OR (status = 'Failed' AND attempts < max_attempts) ORDER BY run_at, id",
        admission: BY_TICKET,
        misshape: ("ALTER TABLE apalis.jobs ALTER job TYPE jsonb USING '{}'", "jobs.job should be a column of type bytea, it is of type jsonb"),
        keeps_errors: true,
        backs_off: false,
    }
}

const FAIL: &str = "UPDATE apalis.jobs SET status = 'Failed', attempts = attempts + 1, last_result = '{\"Err\": \"{error}\"}', done_at = now()
     WHERE id = '{id}' AND lock_by = 'w'";

/// Underway 0.2.
pub fn underway() -> Protocol {
    Protocol {
        queue: || Box::new(Underway::new("underway").expect("a name")),
        install: include_str!("../../../../fairgate-cli/fixtures/queues/underway/install.sql"),
        fetch: include_str!("../../../../fairgate-cli/fixtures/queues/underway/fetch.sql"),
        succeed: "UPDATE underway.task_attempt SET state = 'succeeded', completed_at = now() WHERE task_id = '{id}' AND state = 'in_progress';
                  UPDATE underway.task SET state = 'succeeded', updated_at = now(), completed_at = now() WHERE id = '{id}'",
        fail: "UPDATE underway.task_attempt SET state = 'failed', error_message = '{error}', completed_at = now() WHERE task_id = '{id}' AND state = 'in_progress';
               UPDATE underway.task SET state = 'pending', delay = interval '5 seconds', updated_at = now() WHERE id = '{id}'",
        die: "UPDATE underway.task_attempt SET state = 'failed', error_message = '{error}', completed_at = now() WHERE task_id = '{id}' AND state = 'in_progress';
              UPDATE underway.task SET state = 'failed', updated_at = now(), completed_at = now() WHERE id = '{id}'",
        remove: "UPDATE underway.task SET state = 'cancelled', updated_at = now(), completed_at = now() WHERE id = '{id}' AND state < 'succeeded'",
        purge: "DELETE FROM underway.task WHERE state = 'pending'",
        vanish: "UPDATE underway.task SET last_heartbeat_at = now() - interval '1 hour' WHERE state = 'in_progress'",
        rescue: "SELECT 1",
        ripen: "UPDATE underway.task SET delay = interval '0' WHERE state = 'pending'",
        revive: None,
        foreign: "INSERT INTO underway.task_queue (name) VALUES ('work') ON CONFLICT DO NOTHING;
                  INSERT INTO underway.task (id, task_queue_name, input) VALUES (gen_random_uuid(), 'work', '{\"theirs\": true}')",
        rows: "SELECT to_json(t)::text FROM underway.task t",
        waiting: "SELECT id::text FROM underway.task WHERE state < 'succeeded' ORDER BY created_at, id",
        admission: BY_TICKET,
        misshape: ("ALTER TABLE underway.task RENAME COLUMN input TO body", "task.input should be a column of type jsonb"),
        keeps_errors: true,
        backs_off: true,
    }
}
