use fairgate::queue::{GraphileWorker, PgBoss};

use super::{BY_TICKET, Protocol};

/// Graphile Worker, Node and Rust. Its tables are in the database of every test.
pub fn graphile_worker() -> Protocol {
    Protocol {
        queue: || Box::new(GraphileWorker::new("graphile_worker").expect("a name")),
        install: "SELECT 1",
        fetch: "UPDATE graphile_worker._private_jobs j SET attempts = j.attempts + 1, locked_by = 'w', locked_at = now()
                 WHERE j.id = (SELECT id FROM graphile_worker._private_jobs WHERE is_available AND run_at <= now()
                                ORDER BY priority, run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
                RETURNING j.id::text, j.payload::text",
        succeed: "DELETE FROM graphile_worker._private_jobs WHERE id = {id}",
        fail: FAIL,
        die: FAIL,
        remove: "DELETE FROM graphile_worker._private_jobs WHERE id = {id} AND locked_at IS NULL",
        purge: "DELETE FROM graphile_worker._private_jobs WHERE locked_at IS NULL",
        vanish: "UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '5 hours' WHERE locked_at IS NOT NULL",
        rescue: "UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL, run_at = greatest(run_at, now())
                  WHERE locked_at < now() - interval '4 hours'",
        ripen: "UPDATE graphile_worker._private_jobs SET run_at = now()",
        revive: Some("SELECT id FROM graphile_worker.reschedule_jobs(ARRAY[{id}]::bigint[], attempts => 0)"),
        foreign: "SELECT graphile_worker.add_job('work', '{\"theirs\": true}')",
        rows: "SELECT to_json(j)::text FROM graphile_worker._private_jobs j",
        waiting: "SELECT id::text FROM graphile_worker._private_jobs WHERE attempts < max_attempts OR locked_at IS NOT NULL ORDER BY id",
        admission: "SELECT flags #>> '{fairgate,a}' FROM graphile_worker._private_jobs WHERE id = {id}",
        misshape: (
            "ALTER TABLE graphile_worker._private_jobs RENAME COLUMN flags TO marks",
            "_private_jobs.flags should be a column of type jsonb",
        ),
        keeps_errors: true,
        backs_off: true,
    }
}

const FAIL: &str = "UPDATE graphile_worker._private_jobs SET last_error = '{error}', locked_by = NULL, locked_at = NULL,
        run_at = greatest(now(), run_at) + exp(least(attempts, 10)) * interval '1 second' WHERE id = {id} AND locked_by = 'w'";

/// pg-boss 10.
pub fn pg_boss() -> Protocol {
    Protocol {
        queue: || Box::new(PgBoss::new("pgboss").expect("a name")),
        install: concat!(
            include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/install.sql"),
            "\n;SELECT pgboss.create_queue('work', '{\"retryDelay\": 5}')"
        ),
        fetch: include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/fetch.sql"),
        succeed: include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/complete.sql"),
        fail: include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/fail.sql"),
        die: include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/fail.sql"),
        remove: include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/cancel.sql"),
        purge: include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/purge.sql"),
        vanish: "UPDATE pgboss.job SET started_on = now() - interval '1 hour' WHERE state = 'active'",
        rescue: include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/expire.sql"),
        ripen: "UPDATE pgboss.job SET start_after = now() - interval '1 second' WHERE state < 'active'",
        revive: Some(include_str!("../../../../fairgate-cli/fixtures/queues/pg_boss/retry.sql")),
        foreign: "INSERT INTO pgboss.job (name, data) VALUES ('work', '{\"theirs\": true}')",
        rows: "SELECT to_json(j)::text FROM pgboss.job j",
        waiting: "SELECT id::text FROM pgboss.job WHERE state <= 'active' ORDER BY created_on, id",
        admission: BY_TICKET,
        misshape: (
            "ALTER TABLE pgboss.job RENAME COLUMN data TO body",
            "job.data should be a column of type jsonb",
        ),
        keeps_errors: true,
        backs_off: true,
    }
}
