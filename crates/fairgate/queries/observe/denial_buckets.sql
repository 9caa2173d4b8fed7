-- Denied looks of the last $2 seconds by reason, in steps of $3 seconds; $1 a policy, NULL: all.
SELECT date_bin($3 * interval '1 second', t.at, timestamptz '2000-01-01') AS at, r.key AS reason, sum(r.value::bigint)::bigint AS looks
  FROM fairgate.tick_sample t CROSS JOIN LATERAL jsonb_each_text(t.denials) r
 WHERE t.at > clock_timestamp() - $2 * interval '1 second' AND t.denials <> '{}'
   AND ($1::int IS NULL OR t.shard_id IN (SELECT h.id FROM fairgate.shard h WHERE h.policy_id = $1))
 GROUP BY 1, 2 ORDER BY 1, 2
