-- Denied looks of the last $2 seconds by reason, in steps of $3 seconds; $1 a policy, NULL: all. Most ticks deny the same, so they are put together first.
SELECT x.at, r.key AS reason, sum(r.value::bigint * x.ticks)::bigint AS looks
  FROM (SELECT date_bin($3 * interval '1 second', t.at, timestamptz '2000-01-01') AS at, t.denials, count(*) AS ticks
          FROM fairgate.tick_sample t
         WHERE t.at > clock_timestamp() - $2 * interval '1 second' AND t.denials <> '{}'
           AND ($1::int IS NULL OR t.shard_id IN (SELECT h.id FROM fairgate.shard h WHERE h.policy_id = $1))
         GROUP BY 1, 2) x
 CROSS JOIN LATERAL jsonb_each_text(x.denials) r
 GROUP BY 1, 2 ORDER BY 1, 2
