-- PostgreSQL's own limit: the same rows, one statement, no policies; part $1 of $2.
WITH gone AS (
    DELETE FROM bench.raw_staged WHERE ctid = ANY (ARRAY (SELECT ctid FROM bench.raw_staged WHERE $2 = 1 OR (hashtext(job_id::text)::bigint & 1023) % $2 = $1))
    RETURNING job_id, admission_id, task, payload, priority, run_at)
INSERT INTO bench.lean (id, task, payload, priority, run_at, admission_id, job_id)
SELECT nextval('bench.lean_id_seq'), task, payload, priority, coalesce(run_at, now()), admission_id, job_id FROM gone
