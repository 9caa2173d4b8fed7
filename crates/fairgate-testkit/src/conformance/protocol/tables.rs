use fairgate::config::Config;
use fairgate::queue::{Queue, adapter};

use super::{BY_TICKET, Protocol};

/// The adapter that one of the documented configurations describes.
fn configured(text: &str) -> Box<dyn Queue> {
    let config = Config::parse(text, "the documented configuration").expect("it is right");
    let queue = &config.queues[0];
    adapter(&queue.kind, queue.schema.as_deref(), &queue.settings).expect("an adapter")
}

/// River's table.
pub fn river() -> Protocol {
    Protocol {
        queue: || configured(include_str!("../../../../../docs/queues/river.toml")),
        install: include_str!("../../../../fairgate-cli/fixtures/queues/river/install.sql"),
        fetch: "UPDATE river_job SET state = 'running', attempt = attempt + 1, attempted_at = now(), attempted_by = array_append(attempted_by, 'w')
                 WHERE id = (SELECT id FROM river_job WHERE state = 'available' AND queue = 'default' AND scheduled_at <= now()
                              ORDER BY priority, scheduled_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
                RETURNING id::text, args::text",
        succeed: "UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id = {id} AND state = 'running'",
        fail: "UPDATE river_job SET state = 'retryable', scheduled_at = now() + interval '5 seconds',
                      errors = array_append(errors, jsonb_build_object('attempt', attempt, 'error', '{error}')) WHERE id = {id} AND state = 'running'",
        die: "UPDATE river_job SET state = 'discarded', finalized_at = now(),
                     errors = array_append(errors, jsonb_build_object('attempt', attempt, 'error', '{error}')) WHERE id = {id} AND state = 'running'",
        remove: "UPDATE river_job SET state = 'cancelled', finalized_at = now() WHERE id = {id} AND state <> 'running'",
        purge: "DELETE FROM river_job WHERE state = 'available'",
        vanish: "UPDATE river_job SET attempted_at = now() - interval '2 hours' WHERE state = 'running'",
        rescue: "UPDATE river_job SET state = 'retryable', scheduled_at = now(), errors = array_append(errors, '{\"error\": \"Stuck job rescued by Rescuer\"}')
                  WHERE state = 'running' AND attempted_at < now() - interval '1 hour'",
        ripen: "UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state IN ('retryable', 'scheduled')",
        revive: Some("UPDATE river_job SET state = 'available', scheduled_at = now(), finalized_at = NULL,
                             max_attempts = CASE WHEN attempt = max_attempts THEN max_attempts + 1 ELSE max_attempts END WHERE id = {id}"),
        foreign: "INSERT INTO river_job (kind, args, max_attempts) VALUES ('work', '{\"theirs\": true}', 25)",
        rows: "SELECT to_json(j)::text FROM river_job j",
        waiting: "SELECT id::text FROM river_job WHERE finalized_at IS NULL ORDER BY id",
        admission: BY_TICKET,
        misshape: ("ALTER TABLE river_job RENAME COLUMN args TO arguments", "river_job.args should be a column, it is not there"),
        keeps_errors: true,
        backs_off: true,
    }
}

/// Oban's table.
pub fn oban() -> Protocol {
    Protocol {
        queue: || configured(include_str!("../../../../../docs/queues/oban.toml")),
        install: include_str!("../../../../fairgate-cli/fixtures/queues/oban/install.sql"),
        fetch: "UPDATE oban_jobs SET state = 'executing', attempt = attempt + 1, attempted_at = timezone('UTC', now()), attempted_by = ARRAY['w']
                 WHERE id = (SELECT id FROM oban_jobs WHERE state = 'available' AND queue = 'default'
                              ORDER BY priority, scheduled_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
                RETURNING id::text, args::text",
        succeed: "UPDATE oban_jobs SET state = 'completed', completed_at = timezone('UTC', now()) WHERE id = {id} AND state = 'executing'",
        fail: "UPDATE oban_jobs SET state = 'retryable', scheduled_at = timezone('UTC', now() + interval '5 seconds'),
                      errors = array_append(errors, jsonb_build_object('attempt', attempt, 'error', '{error}')) WHERE id = {id} AND state = 'executing'",
        die: "UPDATE oban_jobs SET state = 'discarded', discarded_at = timezone('UTC', now()),
                     errors = array_append(errors, jsonb_build_object('attempt', attempt, 'error', '{error}')) WHERE id = {id} AND state = 'executing'",
        remove: "UPDATE oban_jobs SET state = 'cancelled', cancelled_at = timezone('UTC', now()) WHERE id = {id}",
        purge: "DELETE FROM oban_jobs WHERE state = 'available'",
        vanish: "UPDATE oban_jobs SET attempted_at = timezone('UTC', now() - interval '2 hours') WHERE state = 'executing'",
        rescue: "UPDATE oban_jobs SET state = 'available' WHERE state = 'executing' AND attempted_at < timezone('UTC', now() - interval '1 hour')",
        ripen: "UPDATE oban_jobs SET state = 'available', scheduled_at = timezone('UTC', now()) WHERE state IN ('retryable', 'scheduled')",
        revive: Some("UPDATE oban_jobs SET state = 'available', discarded_at = NULL, max_attempts = greatest(max_attempts, attempt + 1) WHERE id = {id}"),
        foreign: "INSERT INTO oban_jobs (worker, args) VALUES ('work', '{\"theirs\": true}')",
        rows: "SELECT to_json(j)::text FROM oban_jobs j",
        waiting: "SELECT id::text FROM oban_jobs WHERE state NOT IN ('completed', 'discarded', 'cancelled') ORDER BY id",
        admission: BY_TICKET,
        misshape: ("ALTER TABLE oban_jobs RENAME COLUMN worker TO module", "oban_jobs.worker should be a column, it is not there"),
        keeps_errors: true,
        backs_off: true,
    }
}

/// GoodJob's table. A worker holds a lock; one that is lost lets go, and the next finds the job begun.
pub fn good_job() -> Protocol {
    Protocol {
        queue: || configured(include_str!("../../../../../docs/queues/good_job.toml")),
        install: include_str!("../../../../fairgate-cli/fixtures/queues/good_job/install.sql"),
        fetch: "UPDATE good_jobs SET performed_at = timezone('UTC', now()), executions_count = coalesce(executions_count, 0) + 1,
                       locked_by_id = gen_random_uuid(), locked_at = timezone('UTC', now()), updated_at = timezone('UTC', now())
                 WHERE id = (SELECT id FROM good_jobs WHERE finished_at IS NULL AND locked_by_id IS NULL AND scheduled_at <= timezone('UTC', now())
                              ORDER BY priority, created_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
                RETURNING id::text, (serialized_params -> 'arguments' -> 0)::text",
        succeed: "UPDATE good_jobs SET finished_at = timezone('UTC', now()), error = NULL, locked_by_id = NULL WHERE id = '{id}' AND finished_at IS NULL",
        fail: "UPDATE good_jobs SET performed_at = NULL, error = '{error}', scheduled_at = timezone('UTC', now() + interval '5 seconds'), locked_by_id = NULL WHERE id = '{id}'",
        die: "UPDATE good_jobs SET finished_at = timezone('UTC', now()), error = '{error}', locked_by_id = NULL WHERE id = '{id}'",
        remove: "UPDATE good_jobs SET finished_at = timezone('UTC', now()), error = 'GoodJob::Job::DiscardJobError: discarded by hand' WHERE id = '{id}'",
        purge: "DELETE FROM good_jobs WHERE performed_at IS NULL",
        vanish: "UPDATE good_jobs SET locked_by_id = NULL, locked_at = NULL",
        rescue: "SELECT 1",
        ripen: "UPDATE good_jobs SET scheduled_at = timezone('UTC', now()) WHERE performed_at IS NULL",
        revive: Some("UPDATE good_jobs SET finished_at = NULL, performed_at = NULL, scheduled_at = timezone('UTC', now()) WHERE id = '{id}'"),
        foreign: "INSERT INTO good_jobs (queue_name, serialized_params, scheduled_at, created_at, updated_at)
                  VALUES ('default', '{\"arguments\": [{\"theirs\": true}]}', timezone('UTC', now()), timezone('UTC', now()), timezone('UTC', now()))",
        rows: "SELECT to_json(j)::text FROM good_jobs j",
        waiting: "SELECT id::text FROM good_jobs WHERE finished_at IS NULL ORDER BY id",
        admission: BY_TICKET,
        misshape: (
            "ALTER TABLE good_jobs RENAME COLUMN serialized_params TO params",
            "good_jobs.serialized_params should be a column, it is not there",
        ),
        keeps_errors: true,
        backs_off: true,
    }
}

/// Solid Queue's tables. A worker that stops gives its jobs back; there is no retry of its own.
pub fn solid_queue() -> Protocol {
    Protocol {
        queue: || configured(include_str!("../../../../../docs/queues/solid_queue.toml")),
        install: include_str!("../../../../fairgate-cli/fixtures/queues/solid_queue/install.sql"),
        fetch: "WITH taken AS (
                    DELETE FROM solid_queue_ready_executions
                     WHERE id = (SELECT id FROM solid_queue_ready_executions ORDER BY priority, job_id LIMIT 1 FOR UPDATE SKIP LOCKED)
                    RETURNING job_id),
                claimed AS (
                    INSERT INTO solid_queue_claimed_executions (job_id, process_id, created_at) SELECT job_id, 1, timezone('UTC', now()) FROM taken RETURNING job_id)
                SELECT j.id::text, (j.arguments::json -> 'arguments' -> 0)::text FROM claimed c JOIN solid_queue_jobs j ON j.id = c.job_id",
        succeed: "UPDATE solid_queue_jobs SET finished_at = timezone('UTC', now()) WHERE id = {id};
                  DELETE FROM solid_queue_claimed_executions WHERE job_id = {id}",
        fail: "INSERT INTO solid_queue_ready_executions (job_id, queue_name, priority, created_at)
                   SELECT id, queue_name, priority, timezone('UTC', now()) FROM solid_queue_jobs WHERE id = {id};
               DELETE FROM solid_queue_claimed_executions WHERE job_id = {id}",
        die: "INSERT INTO solid_queue_failed_executions (job_id, error, created_at) VALUES ({id}, '{error}', timezone('UTC', now()));
              DELETE FROM solid_queue_claimed_executions WHERE job_id = {id}",
        remove: "DELETE FROM solid_queue_jobs WHERE id = {id}",
        purge: "DELETE FROM solid_queue_jobs WHERE id IN (SELECT job_id FROM solid_queue_ready_executions)",
        vanish: "SELECT 1",
        rescue: "INSERT INTO solid_queue_ready_executions (job_id, queue_name, priority, created_at)
                     SELECT j.id, j.queue_name, j.priority, timezone('UTC', now()) FROM solid_queue_jobs j JOIN solid_queue_claimed_executions c ON c.job_id = j.id;
                 DELETE FROM solid_queue_claimed_executions",
        ripen: "SELECT 1",
        revive: None,
        foreign: "WITH j AS (
                      INSERT INTO solid_queue_jobs (queue_name, class_name, arguments, created_at, updated_at)
                      VALUES ('default', 'work', '{\"arguments\": [{\"theirs\": true}]}', timezone('UTC', now()), timezone('UTC', now())) RETURNING id)
                  INSERT INTO solid_queue_ready_executions (job_id, queue_name, created_at) SELECT id, 'default', timezone('UTC', now()) FROM j",
        rows: "SELECT to_json(j)::text FROM solid_queue_jobs j",
        waiting: "SELECT j.id::text FROM solid_queue_jobs j
                   WHERE finished_at IS NULL AND NOT EXISTS (SELECT FROM solid_queue_failed_executions f WHERE f.job_id = j.id) ORDER BY id",
        admission: BY_TICKET,
        misshape: (
            "ALTER TABLE solid_queue_failed_executions RENAME COLUMN job_id TO job",
            "solid_queue_failed_executions.job_id should be a column, it is not there",
        ),
        keeps_errors: false,
        backs_off: false,
    }
}
