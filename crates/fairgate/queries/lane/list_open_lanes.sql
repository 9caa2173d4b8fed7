-- Lanes with something to do: (lane, policy, is it due, else the wait). $1 now, $2 policy or NULL, $3 shard or NULL.
SELECT s.id AS shard_id, s.name AS shard, s.share, p.id AS policy_id, p.name AS policy, p.revision, q.name AS queue, q.identity AS queue_identity, q.ready AS queue_ready,
       'started' = ANY (q.shows) AS shows_starts, q.max_waiting, q.running, q.starts_per_second,
       q.not_ready_reason, n.due_at <= t.now AS due,
       CASE WHEN n.due_at > t.now THEN (extract(epoch FROM n.due_at - t.now) * 1000000)::bigint ELSE 0 END AS wait_us,
       (SELECT count(*) FROM unnest(t.awake) a (serves)
         WHERE a.serves IN ('every policy', 'policy ' || p.name, 'shard ' || s.name || ' of policy ' || p.name)) AS tickers
  FROM (SELECT coalesce($1, clock_timestamp()) AS now,
               ARRAY (SELECT a.serves FROM fairgate.ticker a WHERE NOT a.asleep AND a.seen_at > clock_timestamp() - interval '25 s') AS awake) t
 CROSS JOIN fairgate.engine e
  JOIN fairgate.policy p ON p.enabled AND NOT p.paused AND NOT p.retired
  JOIN fairgate.queue q ON q.id = p.queue_id
  JOIN fairgate.shard s ON s.policy_id = p.id
 CROSS JOIN LATERAL (SELECT d.due_at FROM fairgate.partition_state d WHERE d.shard_id = s.id AND d.due_at IS NOT NULL
                      ORDER BY d.due_at LIMIT 1) n
 WHERE e.enabled AND ($2::text IS NULL OR p.name = $2) AND ($3::text IS NULL OR s.name = $3)
 ORDER BY s.id
