-- The partitions of a policy ($1) whose first job has waited longest, of the first 5,000 rows of staging in the order of their ids, which sort by the
-- time of staging; at most $2. The value is in seconds.
SELECT j.partition_key AS key, greatest(0, date_part('epoch', clock_timestamp() - min(j.ready_at)))::float8 AS value
  FROM (SELECT s.policy_id, s.partition_key, s.ready, s.ready_at FROM fairgate.staged s ORDER BY s.job_id LIMIT 5000) j
 WHERE j.policy_id = $1 AND j.ready
 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $2
