-- Creates scopes of policy $1 ($2 now) that have no row yet, each with the newest context of those partitions ($7, locked by this transaction) that
-- count towards it ($3 its id, $4 kind and $5 name of its gate, $6 key). In id order, as absorb does: two that create the same wait for each other in turn.
INSERT INTO fairgate.scope (id, policy_id, kind, gate, key, context, context_seq, touched_at)
SELECT DISTINCT ON (u.id) u.id, $1, u.kind, u.gate, u.key, p.context, s.context_seq, $2
  FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[]) u (id, kind, gate, key, partition_id)
  JOIN fairgate.partition_state s ON s.id = u.partition_id JOIN fairgate.partition p ON p.id = u.partition_id
 ORDER BY u.id, s.context_seq DESC
ON CONFLICT DO NOTHING
