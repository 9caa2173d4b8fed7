-- The first statement of a wake-up: locks scopes of a policy ($1) that are to wake somebody ($2 now), longest due first.
SELECT s.id, s.gate, s.kind, s.in_flight::bigint AS in_flight, s.states, s.context::text AS context,
       CASE WHEN s.woken_at >= t.now - interval '50 ms' THEN s.woken::bigint ELSE 0 END AS woken, t.now, (SELECT p.revision FROM fairgate.policy p WHERE p.id = $1) AS revision
  FROM fairgate.scope s CROSS JOIN (SELECT coalesce($2, clock_timestamp()) AS now) t
 WHERE s.policy_id = $1 AND s.due_at <= t.now
 ORDER BY s.due_at LIMIT 50
   FOR NO KEY UPDATE OF s SKIP LOCKED
