-- What a fitted max_waiting follows: jobs that run, and how many began in a second: those admitted since the last look, and no longer waiting.
-- At most once a second, by one ticker at a time.
WITH stale AS MATERIALIZED (
    SELECT q.id, q.waiting, q.gauged_at, greatest(0.001, extract(epoch FROM clock_timestamp() - q.gauged_at)) AS seconds
      FROM fairgate.queue q
     WHERE q.max_waiting IS NULL AND 'started' = ANY (q.shows) AND q.gauged_at < clock_timestamp() - interval '1 second'
     ORDER BY q.id FOR NO KEY UPDATE SKIP LOCKED),
slots AS (
    SELECT f.queue_id, count(*) FILTER (WHERE f.waiting) AS waiting, count(*) FILTER (WHERE f.started_at IS NOT NULL) AS running
      FROM fairgate.in_flight f WHERE f.queue_id IN (SELECT id FROM stale) GROUP BY 1),
admitted AS (
    SELECT s.id, sum(t.jobs_admitted) AS jobs
      FROM stale s JOIN fairgate.policy p ON p.queue_id = s.id JOIN fairgate.shard h ON h.policy_id = p.id
      JOIN fairgate.tick_sample t ON t.shard_id = h.id AND t.at > s.gauged_at
     GROUP BY 1)
UPDATE fairgate.queue q
   SET running = coalesce(w.running, 0), waiting = coalesce(w.waiting, 0), gauged_at = clock_timestamp(),
       starts_per_second = greatest(0, coalesce(a.jobs, 0) + s.waiting - coalesce(w.waiting, 0)) / s.seconds
  FROM stale s LEFT JOIN slots w ON w.queue_id = s.id LEFT JOIN admitted a ON a.id = s.id
 WHERE q.id = s.id
