-- Frees the slots of admissions ($1) whose job the queue no longer has, unless one has begun to beat meanwhile.
WITH gone AS (
    DELETE FROM fairgate.in_flight WHERE admission_id = ANY (ARRAY (
        SELECT f.admission_id FROM fairgate.in_flight f WHERE f.admission_id = ANY ($1) AND f.beat_at IS NULL
         ORDER BY f.admission_id FOR UPDATE SKIP LOCKED))
    RETURNING partition_id, policy_id, job_id, dedupe_key, charged, scopes),
freed AS MATERIALIZED (
    SELECT fairgate.free_key(g.policy_id, g.dedupe_key, g.job_id) FROM gone g WHERE g.dedupe_key IS NOT NULL),
scopes_told AS (
    INSERT INTO fairgate.scope_delta (scope_id, released) SELECT s.id, count(*) FROM gone g CROSS JOIN LATERAL unnest(g.scopes) s (id) GROUP BY 1),
told AS (
    INSERT INTO fairgate.delta (partition_id, released, correction) SELECT partition_id, count(*), -sum(charged) FROM gone GROUP BY 1)
SELECT count(*) FROM gone, (SELECT count(*) FROM freed) f
