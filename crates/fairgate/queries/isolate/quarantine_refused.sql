-- Moves a job that has had its tries into quarantine, whole, with the last error. Its dedupe key is free from then on.
WITH gone AS (
    DELETE FROM fairgate.staged WHERE job_id = $1
    RETURNING job_id, partition_id, policy_id, partition_key, priority, run_at, staged_at, max_attempts, task, queue_name, payload, context,
              attempts, dedupe_key, forward_attempts),
told AS (
    INSERT INTO fairgate.delta (partition_id, staged, capped)
    SELECT g.partition_id, -1, p.max_pending IS NOT NULL FROM gone g LEFT JOIN fairgate.policy p ON p.id = g.policy_id),
freed AS MATERIALIZED (
    SELECT fairgate.free_key(g.policy_id, g.dedupe_key, g.job_id) FROM gone g WHERE g.dedupe_key IS NOT NULL)
INSERT INTO fairgate.quarantined (job_id, partition_id, policy_id, partition_key, priority, run_at, staged_at, max_attempts, task, queue_name,
       payload, context, attempts, dedupe_key, forward_attempts, error, quarantined_at)
SELECT job_id, partition_id, policy_id, partition_key, priority, run_at, staged_at, max_attempts, task, queue_name, payload, context,
       attempts, dedupe_key, forward_attempts + 1, $2, coalesce($3, clock_timestamp()) FROM gone, (SELECT count(*) FROM freed) f
