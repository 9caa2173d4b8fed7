,
-- The last half: the slots, and how many of each partition were really taken.
recorded AS (
    INSERT INTO fairgate.in_flight (admission_id, job_id, partition_id, policy_id, queue_id, queue_job_id, admitted_at, limits)
    SELECT a.admission_id, a.job_id, a.partition_id, $7, $8, a.queue_id::text, $9, a.limits::jsonb FROM addressed a)
SELECT t.partition_id, count(*)::int AS taken FROM taken t CROSS JOIN (SELECT count(*) FROM nudged) n GROUP BY 1
