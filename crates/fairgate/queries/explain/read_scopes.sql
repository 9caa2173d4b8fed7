-- Scopes of partition $2 of policy $1 as the next absorb would leave them, in the order given ($3 ids, $4 gates, $5 keys), and who stands before the
-- partition at each: those that wait for it and were there first, those that were woken for it, and those that are due before ($6 now, $7 since when this
-- one is due), counted up to 1,000 each, with their jobs. newest: the context of its partitions that was reported last.
SELECT coalesce(s.in_flight, 0)::bigint - d.released AS in_flight, s.states, coalesce(s.waited, false) AS waited,
       coalesce(CASE WHEN n.seq > coalesce(s.context_seq, -1) THEN n.context END, s.context)::text AS context,
       CASE WHEN s.woken_at >= $6 - interval '50 ms' AND NOT m.woken THEN s.woken ELSE 0 END::bigint AS woken,
       parked.partitions + due.partitions AS ahead, parked.jobs + due.jobs AS jobs_ahead
  FROM unnest($3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY i (id, gate, key, place)
  LEFT JOIN fairgate.scope s ON s.id = i.id
  LEFT JOIN LATERAL (SELECT p.id, p.waiting_on, p.waiting_since, p.woken FROM fairgate.partition_state p WHERE p.id = $2) own ON true
 CROSS JOIN LATERAL (SELECT own.id, own.waiting_on, own.waiting_since, coalesce(own.woken, false) AS woken) m
 CROSS JOIN LATERAL (
       SELECT count(*) AS partitions, coalesce(sum(x.pending), 0)::bigint AS jobs
         FROM (SELECT w.pending FROM fairgate.partition_state w
                WHERE w.waiting_on = i.id AND NOT m.woken AND (m.waiting_on IS DISTINCT FROM i.id OR (w.waiting_since, w.id) < (m.waiting_since, m.id)) LIMIT 1000) x) parked
 CROSS JOIN LATERAL (
       SELECT count(*) AS partitions, coalesce(sum(x.pending), 0)::bigint AS jobs
         FROM (SELECT w.pending FROM fairgate.shard h CROSS JOIN LATERAL (
                      SELECT w.scopes, w.pending FROM fairgate.partition_state w
                       WHERE w.shard_id = h.id AND w.due_at <= $6 AND w.due_at < $7 AND w.id <> $2 AND w.waiting_on IS NULL) w
                WHERE h.policy_id = $1 AND (i.key IS NULL OR i.id = ANY (w.scopes)) LIMIT 1000) x) due
 CROSS JOIN LATERAL (SELECT coalesce(sum(x.released), 0)::bigint AS released FROM fairgate.scope_delta x WHERE x.scope_id = i.id) d
  LEFT JOIN LATERAL (
       SELECT x.seq, x.context
         FROM (SELECT a.seq, a.context FROM fairgate.scope_delta a WHERE a.scope_id = i.id AND a.context IS NOT NULL
               UNION ALL
               SELECT a.seq, a.context FROM fairgate.delta a CROSS JOIN fairgate.policy l CROSS JOIN jsonb_to_recordset(l.scopes) g (gate text, path jsonb)
                WHERE a.policy_id = $1 AND a.seq IS NOT NULL AND l.id = $1 AND g.gate = i.gate
                  AND CASE WHEN jsonb_typeof(g.path) = 'array' THEN fairgate.scope_key(g.path, a.context) END IS NOT DISTINCT FROM i.key) x
        ORDER BY x.seq DESC LIMIT 1) n ON true
 ORDER BY i.place
