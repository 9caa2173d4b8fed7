-- CTEs that put the rows of `taken` into Graphile Worker's tables, in the order of `ordinal`.
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
addressed AS MATERIALIZED (
    SELECT t.*, nextval((SELECT pg_get_serial_sequence('{schema}._private_jobs', 'id')::regclass)) AS queue_id
      FROM (SELECT * FROM taken ORDER BY ordinal) t),
-- A LEFT JOIN: a task that cannot be read raises (task_id is NOT NULL) instead of losing the job.
queued AS (
    INSERT INTO {schema}._private_jobs (id, task_id, payload, priority, run_at, max_attempts, flags)
    OVERRIDING SYSTEM VALUE
    SELECT a.queue_id, k.id, a.payload, a.priority::smallint, coalesce(a.run_at, now()), coalesce(a.max_attempts, 25)::smallint,
           CASE WHEN a.admission_id IS NOT NULL THEN jsonb_build_object('fairgate',
               jsonb_build_object('a', a.admission_id, 'j', a.job_id, 'policy', a.policy, 'p', a.partition_key)) END
      FROM addressed a LEFT JOIN task_known k ON k.identifier = a.task
     ORDER BY a.queue_id),
nudged AS (
    SELECT pg_notify('jobs:insert', json_build_object('r', random(), 'count', (SELECT count(*) FROM taken))::text))
