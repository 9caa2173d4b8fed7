-- $1 policy, $2 text that the key contains, $3 sort, $4 limit, $5 only where something waits, $6 and $7 rank and key of the row before the first.
-- Every order is that of (rank, key), so that a page begins behind a row whatever was added or removed before it. Only what that takes is read of all rows.
WITH page AS MATERIALIZED (
    SELECT x.id, x.key, x.rank
      FROM (SELECT p.id, p.key,
                   CASE $3 WHEN 'pending' THEN -s.pending::float8 WHEN 'in_flight' THEN -s.in_flight::float8 WHEN 'admitted' THEN -s.admitted::float8
                           WHEN 'recent' THEN -s.recent WHEN 'due' THEN coalesce(date_part('epoch', s.due_at), 'Infinity') ELSE 0 END AS rank
              FROM fairgate.partition p JOIN fairgate.partition_state s USING (id)
             WHERE p.policy_id = $1 AND ($2::text IS NULL OR position($2 IN p.key) > 0) AND (NOT $5 OR s.pending > 0 OR s.future > 0)) x
     WHERE $6::float8 IS NULL OR (x.rank, x.key) > ($6, $7::text)
     ORDER BY x.rank, x.key
     LIMIT $4)
SELECT x.key, h.name AS shard, s.pending, s.future AS scheduled, s.in_flight::bigint AS in_flight, s.admitted,
       CASE WHEN s.due_at = '-infinity' THEN s.touched_at ELSE s.due_at END AS due_at, s.paused, s.denial, s.recent, s.checked_at, p.context::text AS context, x.rank
  FROM page x JOIN fairgate.partition p ON p.id = x.id JOIN fairgate.partition_state s ON s.id = x.id JOIN fairgate.shard h ON h.id = s.shard_id
 ORDER BY x.rank, x.key
