,
-- The last half: the slots, and how many were taken: in all, and only if that is less than was planned, of each partition.
-- {forced}: whether gates were passed over, a constant of the text.
recorded AS (
    INSERT INTO fairgate.in_flight (admission_id, job_id, partition_id, policy_id, queue_id, queue_job_id, admitted_at, learns, waiting, charged, dedupe_key, limits, forced/*scopes*/)
    SELECT t.admission_id, t.job_id, t.partition_id, $7, $8, t.queue_id::text, $9, $10, $11, t.charged, t.dedupe_key, t.limits, {forced}/*scopes_taken*/ FROM taken t),
left_staging AS MATERIALIZED (
    SELECT count(*)::int AS jobs FROM gone)
SELECT NULL::uuid AS partition_id, l.jobs FROM left_staging l CROSS JOIN (SELECT count(*) FROM nudged) n
 UNION ALL
SELECT t.partition_id, count(*)::int FROM taken t
 WHERE (SELECT l.jobs FROM left_staging l) < (SELECT sum(n.take) FROM plan n) GROUP BY 1
