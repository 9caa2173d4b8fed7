-- A queue of underway has one kind of task: the job's queue_name, else its task, names it. Its attempts are rows, so those already made come along.
-- created_at breaks ties of priority, so it counts up in the order of the jobs.
queue_named AS (
    INSERT INTO {schema}.task_queue (name)
    SELECT DISTINCT coalesce(t.queue_name, t.task) FROM taken t
     WHERE NOT EXISTS (SELECT FROM {schema}.task_queue q WHERE q.name = coalesce(t.queue_name, t.task))
     ORDER BY 1
    ON CONFLICT DO NOTHING),
queued AS (
    INSERT INTO {table} (id, task_queue_name, input, retry_policy, priority, delay, created_at)
    SELECT t.queue_id, coalesce(t.queue_name, t.task), t.payload::jsonb,
           ROW(coalesce(t.max_attempts, 5), 1000, 60000, 2.0)::{schema}.task_retry_policy, -t.priority,
           greatest(t.run_at - now(), interval '0'), now() + t.turn * interval '1 microsecond'
      FROM (SELECT t.*, row_number() OVER () AS turn FROM taken t) t),
tried AS (
    INSERT INTO {schema}.task_attempt (task_id, task_queue_name, attempt_number, state, error_message, completed_at)
    SELECT t.queue_id, coalesce(t.queue_name, t.task), n, 'failed', CASE WHEN n = t.attempts THEN t.last_error END, now()
      FROM taken t CROSS JOIN generate_series(1, t.attempts) n WHERE t.attempts > 0),
nudged AS (SELECT 1)
