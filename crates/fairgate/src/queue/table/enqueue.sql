-- The job, as the configuration's expressions name its parts; its rows are written in the order of the jobs.
job AS MATERIALIZED (
    SELECT t.queue_id, t.job_id, t.admission_id, t.policy, t.partition_key, t.task, t.payload, t.priority, t.queue_name,
           coalesce(t.run_at, now()) AS run_at, t.attempts, t.max_attempts, t.last_error, t.dedupe_key
      FROM taken t),
queued AS (
    INSERT INTO {table} ("{id}", {columns}) OVERRIDING SYSTEM VALUE
    SELECT queue_id, {values} FROM job),
{also}nudged AS (
    SELECT {notify})
