-- How many jobs of its partition may go before a waiting one ($1, now $2) at an instant ($3): by priority, then ready time, then id, of those whose time
-- has come by then; before a scheduled one also all whose time comes earlier.
SELECT (SELECT count(*) FROM fairgate.staged a
         WHERE a.partition_id = j.partition_id AND a.ready
           AND (j.ready_at > t.now AND a.ready_at < j.ready_at OR (a.priority, a.ready_at, a.job_id) < (j.priority, j.ready_at, j.job_id)))
     + (SELECT count(*) FROM fairgate.staged a
         WHERE a.partition_id = j.partition_id AND NOT a.ready AND a.ready_at <= greatest(j.ready_at, t.now, $3)
           AND (j.ready_at > t.now AND a.ready_at < j.ready_at OR (a.priority, a.ready_at, a.job_id) < (j.priority, j.ready_at, j.job_id)))
  FROM fairgate.staged j CROSS JOIN (SELECT coalesce($2, clock_timestamp()) AS now) t WHERE j.job_id = $1
