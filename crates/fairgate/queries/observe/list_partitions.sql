-- $1 policy, $2 text that the key contains, $3 sort, $4 limit.
SELECT p.key, h.name AS shard, s.pending, s.future AS scheduled, s.in_flight::bigint AS in_flight, s.admitted,
       CASE WHEN s.due_at = '-infinity' THEN s.touched_at ELSE s.due_at END AS due_at, s.paused, s.denial, s.recent, s.checked_at, p.context::text AS context
  FROM fairgate.partition p JOIN fairgate.partition_state s USING (id) JOIN fairgate.shard h ON h.id = s.shard_id
 WHERE p.policy_id = $1 AND ($2::text IS NULL OR position($2 IN p.key) > 0)
 ORDER BY CASE $3 WHEN 'pending' THEN -s.pending WHEN 'in_flight' THEN -s.in_flight END,
          CASE $3 WHEN 'due' THEN s.due_at END NULLS LAST, CASE $3 WHEN 'recent' THEN -s.recent END, p.key
 LIMIT $4
