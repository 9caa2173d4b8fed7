-- One partition ($2) of a policy ($1), as a row of list_partitions.sql.
SELECT p.key, h.name AS shard, s.pending, s.future AS scheduled, s.in_flight::bigint AS in_flight, s.admitted,
       CASE WHEN s.due_at = '-infinity' THEN s.touched_at ELSE s.due_at END AS due_at, s.paused, s.denial, s.recent, s.checked_at, p.context::text AS context, 0::float8 AS rank
  FROM fairgate.partition p JOIN fairgate.partition_state s USING (id) JOIN fairgate.shard h ON h.id = s.shard_id
 WHERE p.id = fairgate.partition_id($1, $2)
