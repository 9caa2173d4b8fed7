-- Partitions that nothing has happened to for long enough ($1, now $2) and that are not marked yet.
SELECT s.id, s.gates, coalesce($2, clock_timestamp()) FROM fairgate.partition_state s
 WHERE s.due_at IS NULL AND s.in_flight = 0 AND s.pending = 0 AND s.future = 0 AND NOT s.paused
   AND s.touched_at <= coalesce($2, clock_timestamp()) - $1::interval AND s.removing IS NULL
 ORDER BY s.touched_at LIMIT 5000
