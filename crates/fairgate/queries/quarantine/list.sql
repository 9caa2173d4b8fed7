SELECT x.job_id, p.name AS policy, x.partition_key, x.task, x.priority, x.run_at, x.staged_at, x.forward_attempts, x.error, x.quarantined_at
  FROM fairgate.quarantined x JOIN fairgate.policy p ON p.id = x.policy_id
 WHERE $1::int IS NULL OR x.policy_id = $1
 ORDER BY x.quarantined_at DESC, x.job_id
