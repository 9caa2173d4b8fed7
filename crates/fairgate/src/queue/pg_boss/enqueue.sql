-- A queue of pg-boss is what its workers name: the job's queue_name, else its task. What the job does not say, the queue's own row does. A
-- queue that was never created has no partition for the row, so the insert raises.
-- created_on breaks ties of priority, so it counts up in the order of the jobs.
queued AS (
    INSERT INTO {table} (id, name, data, priority, start_after, retry_limit, retry_count, retry_delay, retry_backoff, expire_in, keep_until,
           created_on, dead_letter, policy)
    SELECT t.queue_id, t.name, t.payload::jsonb, -t.priority, t.start_after, coalesce(t.max_attempts - 1, q.retry_limit, 2), t.attempts,
           CASE WHEN q.retry_backoff THEN greatest(q.retry_delay, 1) ELSE coalesce(q.retry_delay, 0) END, coalesce(q.retry_backoff, false),
           coalesce(q.expire_seconds * interval '1 second', interval '15 minutes'),
           t.start_after + coalesce(q.retention_minutes * interval '1 minute', interval '14 days'), now() + t.turn * interval '1 microsecond',
           q.dead_letter, q.policy
      FROM (SELECT t.*, coalesce(t.queue_name, t.task) AS name, coalesce(t.run_at, now()) AS start_after, row_number() OVER () AS turn FROM taken t) t
      LEFT JOIN {schema}.queue q ON q.name = t.name),
nudged AS (SELECT 1)
