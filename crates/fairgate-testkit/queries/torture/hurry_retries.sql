-- Failed jobs need not wait out the queue's back-off.
SELECT count(*) FROM graphile_worker.reschedule_jobs(
    ARRAY (SELECT j.id FROM graphile_worker._private_jobs j
            WHERE j.locked_at IS NULL AND j.attempts BETWEEN 1 AND j.max_attempts - 1 AND j.run_at > now() ORDER BY j.id LIMIT 500),
    run_at := now())
