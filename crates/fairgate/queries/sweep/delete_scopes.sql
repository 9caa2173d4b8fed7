-- Deletes scopes ($3) that are idle still. Nothing in flight holds one whose counter is zero, and a partition that comes later has it created anew.
DELETE FROM fairgate.scope WHERE id = ANY (ARRAY (
    SELECT s.id FROM fairgate.scope s
     WHERE s.id = ANY ($3) AND s.in_flight = 0 AND NOT s.waited AND s.touched_at <= coalesce($2, clock_timestamp()) - $1::interval
       AND NOT EXISTS (SELECT FROM fairgate.scope_delta d WHERE d.scope_id = s.id)
     ORDER BY s.id FOR UPDATE SKIP LOCKED))
