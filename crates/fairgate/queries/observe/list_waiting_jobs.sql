-- The first jobs of a partition in the order in which they go, by its index.
SELECT j.job_id, j.task, j.priority, j.ready_at, j.staged_at, j.attempts, j.forward_attempts
  FROM fairgate.staged j WHERE j.partition_id = fairgate.partition_id($1, $2) AND j.ready
 ORDER BY j.priority, j.ready_at, j.job_id LIMIT $3
