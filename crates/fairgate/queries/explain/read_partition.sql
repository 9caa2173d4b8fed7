-- Everything that decides over a partition, with the reports that wait, as the next absorb would fold them in. $1 policy, $2 partition, $3 now.
-- look_at: when a tick looks next if a job waits; -infinity never leaves this statement.
WITH t AS MATERIALIZED (
    SELECT coalesce($3, clock_timestamp()) AS now),
told AS (
    SELECT count(*) AS reports, coalesce(sum(d.staged), 0) AS staged, coalesce(sum(d.future), 0) AS future, coalesce(sum(d.released), 0) AS released,
           jsonb_agg(d.lesson) FILTER (WHERE d.lesson IS NOT NULL) AS told_lessons FROM fairgate.delta d WHERE d.partition_id = $2),
newest AS (
    SELECT d.context, d.key, d.shard, d.seq FROM fairgate.delta d WHERE d.partition_id = $2 AND d.key IS NOT NULL ORDER BY d.seq DESC LIMIT 1),
-- By the indexes of staging: ready rows by partition, those that a promotion is due for by their time.
waiting AS (
    SELECT r.ready + f.promoted AS pending, f.promoted,
           (SELECT j.ready_at FROM fairgate.staged j WHERE NOT j.ready AND j.ready_at > f.now AND j.partition_id = $2 ORDER BY j.ready_at LIMIT 1) AS next_at
      FROM (SELECT count(*) AS ready FROM fairgate.staged j WHERE j.partition_id = $2 AND j.ready) r
     CROSS JOIN (SELECT t.now, (SELECT count(*) FROM fairgate.staged j WHERE NOT j.ready AND j.ready_at <= t.now AND j.partition_id = $2) AS promoted FROM t) f),
known AS (
    SELECT p.key, p.context, s.id, s.due_at, s.eligible_at, s.context_seq, s.in_flight, s.paused, s.gates, s.lessons, s.denial, s.future AS counted, n.seq > s.context_seq AND n.context IS DISTINCT FROM p.context AS renewed
      FROM fairgate.partition p JOIN fairgate.partition_state s USING (id) LEFT JOIN newest n ON true WHERE p.id = $2),
state AS (
    SELECT k.*, n.key AS new_key, n.context AS new_context, n.seq AS new_seq, d.*, w.*, t.now,
           CASE WHEN k.id IS NULL OR k.renewed THEN '-infinity' ELSE k.eligible_at END AS eligible
      FROM t CROSS JOIN told d CROSS JOIN waiting w LEFT JOIN known k ON true LEFT JOIN newest n ON true)
SELECT x.now, coalesce(x.key, x.new_key) AS key,
       CASE WHEN x.id IS NULL OR x.new_seq > x.context_seq THEN coalesce(x.new_context, x.context) ELSE x.context END::text AS context,
       x.pending, (coalesce(x.counted, 0) + x.future - x.promoted)::bigint AS scheduled, x.next_at, (coalesce(x.in_flight, 0) - x.released)::bigint AS in_flight, x.gates, coalesce(x.paused, false) AS paused,
       (coalesce(x.lessons, '[]') || coalesce(x.told_lessons, '[]'))::text AS lessons, x.denial,
       greatest(x.now, x.eligible) AS eligible_at,
       greatest(x.now, CASE WHEN x.id IS NULL THEN x.now
            WHEN x.paused THEN x.eligible
            WHEN x.reports = 0 AND x.promoted = 0 OR x.due_at IS NOT NULL AND NOT coalesce(x.renewed, false) AND x.released <= 0 THEN coalesce(x.due_at, x.eligible)
            WHEN x.due_at IS NULL THEN x.eligible
            WHEN x.renewed THEN x.now
            ELSE least(x.due_at, greatest(x.now, x.eligible)) END) AS look_at,
       l.name AS policy, l.definition::text AS definition, l.enabled, e.enabled AS engine_enabled, l.paused AS policy_paused, l.retired,
       q.name AS queue, q.ready AS queue_ready, coalesce(q.not_ready_reason, '') AS queue_problem,
       'started' = ANY (q.shows) AS shows_starts, q.max_waiting, q.running, q.starts_per_second,
       (SELECT count(*) FROM (SELECT FROM fairgate.in_flight f WHERE f.queue_id = q.id AND f.waiting LIMIT coalesce(nullif(q.max_waiting, 0), 1000)) w) AS queue_waiting,
       (SELECT count(*) FROM fairgate.ticker r WHERE r.seen_at > clock_timestamp() - interval '1 minute') AS tickers
  FROM state x CROSS JOIN fairgate.policy l JOIN fairgate.queue q ON q.id = l.queue_id CROSS JOIN fairgate.engine e
 WHERE l.id = $1 AND (x.id IS NOT NULL OR x.new_key IS NOT NULL)
