-- A waiting job ($1, now $2), and how many may go before it: by priority, then ready time, then id; before a scheduled one also all whose time comes earlier.
SELECT j.job_id, j.policy_id, j.partition_id, j.partition_key, j.task, j.priority, j.ready_at, j.run_at, j.staged_at, j.forward_attempts, j.forward_error,
       (SELECT count(*) FROM fairgate.staged a
         WHERE a.partition_id = j.partition_id AND a.ready
           AND (j.ready_at > t.now AND a.ready_at < j.ready_at OR (a.priority, a.ready_at, a.job_id) < (j.priority, j.ready_at, j.job_id)))
     + (SELECT count(*) FROM fairgate.staged a
         WHERE a.partition_id = j.partition_id AND NOT a.ready AND a.ready_at <= greatest(j.ready_at, t.now)
           AND (j.ready_at > t.now AND a.ready_at < j.ready_at OR (a.priority, a.ready_at, a.job_id) < (j.priority, j.ready_at, j.job_id))) AS ahead
  FROM fairgate.staged j CROSS JOIN (SELECT coalesce($2, clock_timestamp()) AS now) t WHERE j.job_id = $1
