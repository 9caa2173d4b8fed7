-- Writes back what became of the scopes ($1 now, $2 to $8) and of the places of partitions ($9 to $13: parked on, since, counts towards, keep the
-- place), and reports scopes that have no row yet ($14 policy, $15 to $20).
WITH held AS (
    UPDATE fairgate.scope s
       SET in_flight = s.in_flight + u.slots, admitted = s.admitted + u.taken, states = u.states, waited = u.waited, woken = u.woken, due_at = u.due_at,
           touched_at = greatest(s.touched_at, $1)
      FROM unnest($2::uuid[], $3::int[], $4::int[], $5::text[], $6::boolean[], $7::int[], $8::timestamptz[])
           u (id, taken, slots, states, waited, woken, due_at)
     WHERE s.id = u.id),
placed AS (
    UPDATE fairgate.partition_state p
       SET scopes = u.scopes::uuid[], waiting_on = CASE WHEN u.keep THEN p.waiting_on ELSE u.waiting_on END,
           waiting_since = CASE WHEN u.keep THEN p.waiting_since ELSE u.since END, woken = p.woken AND u.keep
      FROM unnest($9::uuid[], $10::uuid[], $11::timestamptz[], $12::text[], $13::boolean[]) u (id, waiting_on, since, scopes, keep)
     WHERE p.id = u.id)
INSERT INTO fairgate.scope_delta (scope_id, policy_id, kind, gate, key, seq, context)
SELECT u.id, $14, u.kind, u.gate, u.key, u.seq, u.context::jsonb
  FROM unnest($15::uuid[], $16::text[], $17::text[], $18::text[], $19::bigint[], $20::text[]) u (id, kind, gate, key, seq, context)
