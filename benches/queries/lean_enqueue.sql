queued AS (
    INSERT INTO bench.lean (id, task, payload, priority, run_at, admission_id, job_id)
    SELECT t.queue_id, t.task, t.payload, t.priority, coalesce(t.run_at, now()), t.admission_id, t.job_id FROM taken t),
nudged AS (
    SELECT 1)
