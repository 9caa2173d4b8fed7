-- Refreshes the totals that samples carry, at most every few seconds, by one ticker at a time; no gate reads them.
WITH stale AS (
    SELECT h.id FROM fairgate.shard h WHERE h.gauged_at < clock_timestamp() - interval '5 seconds'
     ORDER BY h.id FOR NO KEY UPDATE SKIP LOCKED),
totals AS (
    SELECT x.id, coalesce(sum(s.pending), 0) AS pending, coalesce(sum(s.future), 0) AS future, coalesce(sum(s.in_flight), 0) AS in_flight
      FROM stale x LEFT JOIN fairgate.partition_state s ON s.shard_id = x.id GROUP BY x.id)
UPDATE fairgate.shard h SET pending = t.pending, future = t.future, in_flight = t.in_flight, gauged_at = clock_timestamp()
  FROM totals t WHERE h.id = t.id
