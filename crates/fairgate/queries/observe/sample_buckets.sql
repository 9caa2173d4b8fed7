-- Samples of the last $2 seconds in steps of $3 seconds, by lane; $1 a policy, NULL: all. pending: the mean of the samples.
SELECT date_bin($3 * interval '1 second', t.at, timestamptz '2000-01-01') AS at, t.shard_id, sum(t.jobs_admitted)::bigint AS admitted, sum(t.failures)::bigint AS failures,
       sum(t.partitions_denied)::bigint AS denied, round(avg(t.pending))::bigint AS pending, round(avg(t.in_flight))::bigint AS in_flight,
       (date_part('epoch', max(t.duration)) * 1000)::float8 AS slowest_ms
  FROM fairgate.tick_sample t
 WHERE t.at > clock_timestamp() - $2 * interval '1 second'
   AND ($1::int IS NULL OR t.shard_id IN (SELECT h.id FROM fairgate.shard h WHERE h.policy_id = $1))
 GROUP BY 1, 2 ORDER BY 1, 2
