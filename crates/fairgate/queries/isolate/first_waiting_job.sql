-- The job that a take of one would pick, locked until the transaction ends.
SELECT s.job_id FROM fairgate.staged s WHERE s.partition_id = $1 AND s.ready
 ORDER BY s.priority, s.ready_at, s.job_id LIMIT 1
   FOR UPDATE SKIP LOCKED
