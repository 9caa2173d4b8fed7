-- Every fact that a decision needs, of partitions ($2) whose rows an earlier statement locked. $1 policy, $3 now.
SELECT s.id, p.key, p.context, s.pending, s.in_flight::bigint AS in_flight, s.gates, s.recent, s.recent_at, s.starved,
       s.lessons::text AS lessons, s.share, s.correction, s.finished_jobs, s.finished_seconds, p.overrides,
       s.scopes, s.woken, s.context_seq, CASE WHEN isfinite(s.due_at) THEN coalesce(s.waiting_since, s.due_at) ELSE s.waiting_since END AS since,
       coalesce($3, clock_timestamp()) AS now, l.revision
  FROM fairgate.partition_state s JOIN fairgate.locked_partitions($2) p USING (id) CROSS JOIN fairgate.policy l
 WHERE s.id = ANY ($2) AND l.id = $1
 ORDER BY s.id
