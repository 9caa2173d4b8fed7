-- Back into staging, whole, for an admission of its own. One report a partition, with its whole identity, so that a partition that was removed
-- meanwhile comes back; with sequence 0, so that these old contexts overwrite none.
WITH gone AS (
    DELETE FROM fairgate.quarantined WHERE job_id = ANY ($1) RETURNING *),
back AS (
    INSERT INTO fairgate.staged (job_id, admission_id, partition_id, policy_id, priority, ready_at, run_at, staged_at, max_attempts, ready,
           partition_key, task, queue_name, payload, context, attempts, dedupe_key)
    SELECT g.job_id, fairgate.admission_id(now(), nextval('fairgate.job_seq')), g.partition_id, g.policy_id, g.priority,
           coalesce(g.run_at, g.staged_at), g.run_at, g.staged_at, g.max_attempts, coalesce(g.run_at, g.staged_at) <= clock_timestamp(),
           g.partition_key, g.task, g.queue_name, g.payload, g.context, g.attempts,
           fairgate.retake_key(g.policy_id, g.dedupe_key, g.job_id, l.key_until_admitted)
      FROM gone g JOIN fairgate.policy l ON l.id = g.policy_id
    RETURNING job_id, partition_id, policy_id, partition_key, priority, queue_name, context, ready),
told AS (
    INSERT INTO fairgate.delta (partition_id, staged, future, policy_id, seq, key, shard, context, capped)
    SELECT n.partition_id, n.staged, n.future, n.policy_id, 0, n.partition_key,
           coalesce((SELECT h.name FROM fairgate.partition p JOIN fairgate.shard h ON h.id = p.shard_id WHERE p.id = n.partition_id),
                    CASE WHEN l.shard_parts IS NULL THEN 'default'
                         ELSE fairgate.render(l.shard_parts, fairgate.job_context(n.priority, n.queue_name, n.context), 'restaging: shard_by') END),
           n.context, l.max_pending IS NOT NULL
      FROM (SELECT DISTINCT ON (b.partition_id) b.*, count(*) FILTER (WHERE b.ready) OVER w AS staged, count(*) FILTER (WHERE NOT b.ready) OVER w AS future
              FROM back b WINDOW w AS (PARTITION BY b.partition_id) ORDER BY b.partition_id, b.job_id DESC) n
      JOIN fairgate.policy l ON l.id = n.policy_id)
SELECT b.job_id FROM back b
