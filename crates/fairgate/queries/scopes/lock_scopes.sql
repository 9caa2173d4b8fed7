-- Locks scopes ($1), passing over those that somebody holds. $2 now: those who were woken longer than 50 ms ago are not waited for.
SELECT s.id, s.in_flight::bigint AS in_flight, s.states, s.context::text AS context, s.waited,
       CASE WHEN s.woken_at >= coalesce($2, clock_timestamp()) - interval '50 ms' THEN s.woken::bigint ELSE 0 END AS woken
  FROM fairgate.scope s WHERE s.id = ANY ($1) ORDER BY s.id
   FOR NO KEY UPDATE SKIP LOCKED
