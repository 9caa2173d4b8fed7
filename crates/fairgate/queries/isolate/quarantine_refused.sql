-- Moves a job that has had its tries into quarantine, whole, with the last error.
WITH gone AS (
    DELETE FROM fairgate.staged WHERE job_id = $1
    RETURNING job_id, partition_id, policy_id, partition_key, priority, run_at, staged_at, max_attempts, task, queue_name, payload, context,
              forward_attempts),
told AS (
    INSERT INTO fairgate.delta (partition_id, staged) SELECT partition_id, -1 FROM gone)
INSERT INTO fairgate.quarantined (job_id, partition_id, policy_id, partition_key, priority, run_at, staged_at, max_attempts, task, queue_name,
       payload, context, forward_attempts, error, quarantined_at)
SELECT job_id, partition_id, policy_id, partition_key, priority, run_at, staged_at, max_attempts, task, queue_name, payload, context,
       forward_attempts + 1, $2, coalesce($3, clock_timestamp()) FROM gone
