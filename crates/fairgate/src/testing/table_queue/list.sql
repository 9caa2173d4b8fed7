SELECT id, admission_id, job_id, policy, partition_key, task, payload, priority, queue_name, run_at, attempts, max_attempts, last_error, dedupe_key, state
  FROM {schema}.jobs ORDER BY id
