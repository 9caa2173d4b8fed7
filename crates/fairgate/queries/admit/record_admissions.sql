,
-- The last half: the slots, and how many of each partition were taken.
recorded AS (
    INSERT INTO fairgate.in_flight (admission_id, job_id, partition_id, policy_id, queue_id, queue_job_id, admitted_at, limits)
    SELECT t.admission_id, t.job_id, t.partition_id, $7, $8, t.queue_id::text, $9, t.limits FROM taken t)
SELECT t.partition_id, count(*)::int AS taken, (SELECT count(*) FROM taken) - (SELECT count(*) FROM gone) AS left_behind
  FROM taken t CROSS JOIN (SELECT count(*) FROM nudged) n GROUP BY 1
