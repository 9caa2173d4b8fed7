-- Apalis's own trigger tells its workers. Equal priorities go by run_at, so it counts up in the order of the jobs; it must lie in the past to be fetched.
queued AS (
    INSERT INTO {table} (id, job_type, job, status, attempts, max_attempts, run_at, priority)
    SELECT t.queue_id, coalesce(t.queue_name, t.task), convert_to(t.payload::text, 'UTF8'), 'Pending', t.attempts, coalesce(t.max_attempts, 25),
           coalesce(t.run_at, now() - (t.jobs - t.turn) * interval '1 microsecond'), -t.priority
      FROM (SELECT t.*, row_number() OVER () AS turn, count(*) OVER () AS jobs FROM taken t) t),
nudged AS (SELECT 1)
