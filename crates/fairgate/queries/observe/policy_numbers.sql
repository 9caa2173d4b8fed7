-- What hints and the pages of policies go by, beside the statuses: looks and ticks of the last minutes. $1: how many seconds a partition may wait for its
-- first look. pending_then: what waited at the first sample of the last 5 minutes, of lanes that have one.
WITH state AS (
    SELECT h.policy_id, count(*) FILTER (WHERE s.pending > 0) AS waiting,
           count(*) FILTER (WHERE s.pending > 0 AND s.checked_at IS NULL AND NOT s.paused AND s.touched_at < clock_timestamp() - $1 * interval '1 second') AS never_checked,
           min(s.checked_at) FILTER (WHERE s.pending > 0 AND NOT s.paused) AS least_looked_at
      FROM fairgate.partition_state s JOIN fairgate.shard h ON h.id = s.shard_id GROUP BY 1),
-- Ids are digests, so the first of them are a sample by chance.
looks AS (
    SELECT h.policy_id, percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY greatest(0, date_part('epoch', clock_timestamp() - s.checked_at))) AS ages
      FROM (SELECT x.shard_id, x.checked_at, x.pending, x.paused FROM fairgate.partition_state x ORDER BY x.id LIMIT 5000) s JOIN fairgate.shard h ON h.id = s.shard_id
     WHERE s.pending > 0 AND s.checked_at IS NOT NULL AND NOT s.paused GROUP BY 1),
lanes AS (
    SELECT t.shard_id,
           sum(t.jobs_admitted) FILTER (WHERE t.at > n.now - interval '1 minute') AS admitted_1m,
           sum(t.jobs_admitted) FILTER (WHERE t.at > n.now - interval '5 minutes') AS admitted_5m, sum(t.jobs_admitted) AS admitted_15m,
           sum(t.failures) FILTER (WHERE t.at > n.now - interval '5 minutes') AS failures,
           max(t.duration) FILTER (WHERE t.at > n.now - interval '1 minute') AS slowest,
           min(t.id) FILTER (WHERE t.at > n.now - interval '5 minutes') AS first_id, max(t.id) AS last_id,
           date_part('epoch', max(t.at) - min(t.at) FILTER (WHERE t.at > n.now - interval '5 minutes')) AS seconds
      FROM fairgate.tick_sample t CROSS JOIN (SELECT clock_timestamp() AS now) n WHERE t.at > n.now - interval '15 minutes' GROUP BY 1),
ticks AS (
    SELECT h.policy_id, sum(l.admitted_1m) AS admitted_1m, sum(l.admitted_5m) AS admitted_5m, sum(l.admitted_15m) AS admitted_15m,
           sum(l.failures) AS failures, max(l.slowest) AS slowest, max(l.seconds) AS seconds, sum(a.pending) AS pending_then, sum(b.pending) AS pending_now
      FROM lanes l JOIN fairgate.shard h ON h.id = l.shard_id
      LEFT JOIN fairgate.tick_sample a ON a.id = l.first_id LEFT JOIN fairgate.tick_sample b ON b.id = l.last_id
     GROUP BY 1)
SELECT p.name, coalesce(s.waiting, 0) AS waiting_partitions, coalesce(s.never_checked, 0) AS never_checked,
       k.ages[1]::float8 AS look_age_p50, k.ages[2]::float8 AS look_age_p95,
       greatest(0, date_part('epoch', clock_timestamp() - s.least_looked_at))::float8 AS look_age_max,
       coalesce(t.admitted_1m, 0)::bigint AS admitted_1m, coalesce(t.admitted_5m, 0)::bigint AS admitted_5m, coalesce(t.admitted_15m, 0)::bigint AS admitted_15m,
       coalesce(t.failures, 0)::bigint AS failures_5m, coalesce(date_part('epoch', t.slowest) * 1000, 0)::float8 AS slowest_tick_ms,
       CASE WHEN t.seconds >= 60 THEN t.admitted_5m * 60 / t.seconds END::float8 AS admitted_per_minute,
       CASE WHEN t.seconds >= 60 THEN greatest(0, t.admitted_5m + t.pending_now - t.pending_then) * 60 / t.seconds END::float8 AS arrived_per_minute
  FROM fairgate.policy p LEFT JOIN state s ON s.policy_id = p.id LEFT JOIN looks k ON k.policy_id = p.id LEFT JOIN ticks t ON t.policy_id = p.id
 ORDER BY p.retired, p.name
