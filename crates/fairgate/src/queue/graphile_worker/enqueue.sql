-- CTEs that put the rows of `taken` into Graphile Worker's tables; its workers go by id, which was drawn in the order of the jobs.
-- Identifiers that the queue knows not yet; DO UPDATE returns the id that another transaction has just inserted.
task_named AS (
    INSERT INTO {schema}._private_tasks (identifier)
    SELECT DISTINCT t.task FROM taken t
     WHERE NOT EXISTS (SELECT FROM {schema}._private_tasks k WHERE k.identifier = t.task)
     ORDER BY 1
    ON CONFLICT (identifier) DO UPDATE SET identifier = excluded.identifier
    RETURNING id, identifier),
task_known AS MATERIALIZED (
    SELECT id, identifier FROM task_named UNION ALL SELECT id, identifier FROM {schema}._private_tasks),
-- A LEFT JOIN: a task that cannot be read raises (task_id is NOT NULL) instead of losing the job.
queued AS (
    INSERT INTO {schema}._private_jobs (id, task_id, payload, priority, run_at, attempts, max_attempts, last_error, flags)
    OVERRIDING SYSTEM VALUE
    SELECT t.queue_id, k.id, t.payload, t.priority::smallint, coalesce(t.run_at, now()), t.attempts::smallint,
           coalesce(t.max_attempts, 25)::smallint, t.last_error,
           CASE WHEN t.admission_id IS NOT NULL THEN jsonb_build_object('fairgate',
               jsonb_build_object('a', t.admission_id, 'j', t.job_id, 'policy', t.policy, 'p', t.partition_key)
               || CASE WHEN t.queue_name IS NULL AND t.dedupe_key IS NULL THEN '{}'
                       ELSE jsonb_strip_nulls(jsonb_build_object('q', t.queue_name, 'k', t.dedupe_key)) END) END
      FROM taken t LEFT JOIN task_known k ON k.identifier = t.task),
nudged AS (
    SELECT pg_notify('jobs:insert', json_build_object('r', random(), 'count', (SELECT count(*) FROM taken))::text))
