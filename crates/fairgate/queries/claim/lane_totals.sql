-- All partitions of lane $1 that are due at $2: the weights of those that have been looked at, how many of them, how many in all.
SELECT coalesce(sum(x.weight), 0), count(x.weight), count(*)
  FROM (SELECT nullif((s.share::jsonb ->> 's_weight')::float8, 0) AS weight
          FROM fairgate.partition_state s WHERE s.shard_id = $1 AND s.due_at <= $2) x
