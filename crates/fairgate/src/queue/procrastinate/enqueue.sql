-- Procrastinate's own triggers tell its workers. They name its tables without their schema, so the path leads there for the rest of the transaction.
-- How often a task is tried is its code's affair: there is no column for it.
path AS MATERIALIZED (
    SELECT set_config('search_path', 'pg_catalog, ' || quote_ident({text}), true)),
queued AS (
    INSERT INTO {table} (id, queue_name, task_name, priority, args, scheduled_at, attempts)
    SELECT t.queue_id, coalesce(t.queue_name, 'default'), t.task, -t.priority, t.payload::jsonb, t.run_at, t.attempts FROM taken t CROSS JOIN path),
nudged AS (SELECT 1)
