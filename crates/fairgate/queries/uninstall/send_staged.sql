-- Sends a stretch of a policy's jobs straight to the queue, with their run times, as staging does while disabled. $1 policy id, $2 its name.
WITH gone AS (
    DELETE FROM fairgate.staged WHERE job_id = ANY (ARRAY (
        SELECT s.job_id FROM fairgate.staged s WHERE s.policy_id = $1 ORDER BY s.priority, s.ready_at, s.job_id LIMIT 10000))
    RETURNING *)
SELECT count(*), fairgate.send($2, array_agg(g.job_id ORDER BY g.priority, g.ready_at, g.job_id), array_agg(g.partition_key ORDER BY g.priority, g.ready_at, g.job_id),
       array_agg(g.task ORDER BY g.priority, g.ready_at, g.job_id), array_agg(g.payload ORDER BY g.priority, g.ready_at, g.job_id),
       array_agg(g.priority ORDER BY g.priority, g.ready_at, g.job_id), array_agg(g.run_at ORDER BY g.priority, g.ready_at, g.job_id),
       array_agg(g.queue_name ORDER BY g.priority, g.ready_at, g.job_id), array_agg(g.max_attempts ORDER BY g.priority, g.ready_at, g.job_id))::text
  FROM gone g HAVING count(*) > 0
