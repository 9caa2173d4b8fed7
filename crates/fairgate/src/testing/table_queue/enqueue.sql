queued AS (
    INSERT INTO {schema}.jobs (id, admission_id, job_id, policy, partition_key, task, payload, priority, queue_name, run_at, attempts, max_attempts, last_error, dedupe_key)
    SELECT t.queue_id, t.admission_id, t.job_id, t.policy, t.partition_key, t.task, t.payload, t.priority, t.queue_name, coalesce(t.run_at, now()), t.attempts,
           coalesce(t.max_attempts, 25), t.last_error, t.dedupe_key
      FROM taken t),
nudged AS (SELECT 1)
