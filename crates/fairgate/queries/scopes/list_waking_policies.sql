-- Policies ($2: only this one) one of whose scopes is to wake somebody, now or later, in the form of a lane. $1 now.
SELECT 0 AS shard_id, '' AS shard, '' AS share, p.id AS policy_id, p.name AS policy, p.revision, q.name AS queue, q.identity AS queue_identity, q.ready AS queue_ready,
       'started' = ANY (q.shows) AS shows_starts, q.max_waiting, q.running, q.starts_per_second,
       q.not_ready_reason, n.due_at <= t.now AS due,
       CASE WHEN n.due_at > t.now THEN (extract(epoch FROM n.due_at - t.now) * 1000000)::bigint ELSE 0 END AS wait_us, 1::bigint AS tickers
  FROM (SELECT coalesce($1, clock_timestamp()) AS now) t
 CROSS JOIN fairgate.engine e
  JOIN fairgate.policy p ON p.enabled AND NOT p.paused AND NOT p.retired
  JOIN fairgate.queue q ON q.id = p.queue_id
 CROSS JOIN LATERAL (SELECT s.due_at FROM fairgate.scope s WHERE s.policy_id = p.id AND s.due_at IS NOT NULL ORDER BY s.due_at LIMIT 1) n
 WHERE e.enabled AND p.scopes IS NOT NULL AND ($2::text IS NULL OR p.name = $2)
 ORDER BY p.id
