-- $1 policy, $2 text that the key contains, $3 sort, $4 limit, $5 only where something waits, $6 and $7 rank and key of the row before the first.
-- Every order is that of (rank, key), so that a page begins behind a row whatever was added or removed before it.
SELECT x.key, x.shard, x.pending, x.future AS scheduled, x.in_flight::bigint AS in_flight, x.admitted,
       CASE WHEN x.due_at = '-infinity' THEN x.touched_at ELSE x.due_at END AS due_at, x.paused, x.denial, x.recent, x.checked_at, x.context::text AS context, x.rank
  FROM (SELECT p.key, p.context, h.name AS shard, s.pending, s.future, s.in_flight, s.admitted, s.due_at, s.touched_at, s.paused, s.denial, s.recent, s.checked_at,
               CASE $3 WHEN 'pending' THEN -s.pending::float8 WHEN 'in_flight' THEN -s.in_flight::float8 WHEN 'admitted' THEN -s.admitted::float8
                       WHEN 'recent' THEN -s.recent WHEN 'due' THEN coalesce(date_part('epoch', s.due_at), 'Infinity') ELSE 0 END AS rank
          FROM fairgate.partition p JOIN fairgate.partition_state s USING (id) JOIN fairgate.shard h ON h.id = s.shard_id
         WHERE p.policy_id = $1 AND ($2::text IS NULL OR position($2 IN p.key) > 0) AND (NOT $5 OR s.pending > 0 OR s.future > 0)) x
 WHERE $6::float8 IS NULL OR (x.rank, x.key) > ($6, $7::text)
 ORDER BY x.rank, x.key
 LIMIT $4
