-- What partitions of a policy ($1) got of late, of those in which jobs wait: recent activity, faded to now by the half-life $2 (seconds; 0: not at
-- all), and the weight of their last look; at most $3, the most active first.
SELECT p.key, x.got, x.weight
  FROM (SELECT s.id,
               s.recent * CASE WHEN $2::float8 > 0 THEN power(2::float8, greatest(-60::float8, -date_part('epoch', clock_timestamp() - s.recent_at) / $2)) ELSE 1 END AS got,
               coalesce(nullif((s.share::jsonb ->> 's_weight')::float8, 0), 1) AS weight
          FROM fairgate.partition_state s
         WHERE s.shard_id IN (SELECT h.id FROM fairgate.shard h WHERE h.policy_id = $1) AND s.pending > 0 AND NOT s.paused
         ORDER BY s.recent DESC LIMIT $3) x
  JOIN fairgate.partition p ON p.id = x.id
 ORDER BY x.got DESC, p.key
