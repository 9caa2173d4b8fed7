-- Frees slots whose holder has beaten and then fell silent ($1 stale after, $2 now). Locked rows are somebody's who is not silent.
WITH gone AS (
    DELETE FROM fairgate.in_flight WHERE admission_id = ANY (ARRAY (
        SELECT f.admission_id FROM fairgate.in_flight f
         WHERE f.beat_at IS NOT NULL AND f.beat_at < coalesce($2, clock_timestamp()) - $1::interval
         ORDER BY f.admission_id LIMIT 1000 FOR UPDATE SKIP LOCKED))
    RETURNING partition_id, policy_id, job_id, dedupe_key, charged, scopes),
freed AS MATERIALIZED (
    SELECT fairgate.free_key(g.policy_id, g.dedupe_key, g.job_id) FROM gone g WHERE g.dedupe_key IS NOT NULL),
scopes_told AS (
    INSERT INTO fairgate.scope_delta (scope_id, released) SELECT s.id, count(*) FROM gone g CROSS JOIN LATERAL unnest(g.scopes) s (id) GROUP BY 1),
told AS (
    INSERT INTO fairgate.delta (partition_id, released, correction) SELECT partition_id, count(*), -sum(charged) FROM gone GROUP BY 1)
SELECT count(*) FROM gone, (SELECT count(*) FROM freed) f
