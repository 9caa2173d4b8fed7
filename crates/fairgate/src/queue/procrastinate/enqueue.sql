-- Procrastinate's own triggers tell its workers. How often a task is tried is its code's affair: there is no column for it.
queued AS (
    INSERT INTO {table} (id, queue_name, task_name, priority, args, scheduled_at, attempts)
    SELECT t.queue_id, coalesce(t.queue_name, 'default'), t.task, -t.priority, t.payload::jsonb, t.run_at, t.attempts FROM taken t),
nudged AS (SELECT 1)
