-- The partitions of a policy ($1) with the most of something ($2), at most $3 of them. oldest: since when the first job of the oldest staged ones waits.
SELECT p.key, x.value
  FROM (SELECT s.id, CASE $2 WHEN 'waiting' THEN s.pending WHEN 'in_flight' THEN s.in_flight ELSE s.admitted END::float8 AS value
          FROM fairgate.partition_state s WHERE s.shard_id IN (SELECT h.id FROM fairgate.shard h WHERE h.policy_id = $1)
         ORDER BY 2 DESC LIMIT $3) x
  JOIN fairgate.partition p ON p.id = x.id
 WHERE x.value > 0 ORDER BY x.value DESC, p.key
