SELECT j.job_id, j.policy_id, j.partition_id, j.partition_key, j.task, j.priority, j.ready_at, j.run_at, j.staged_at, j.forward_attempts, j.forward_error
  FROM fairgate.staged j WHERE j.job_id = $1
