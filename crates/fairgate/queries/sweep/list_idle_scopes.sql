-- A stretch of the scopes behind a place ($3), in id order: the last id of it, and those that hold nothing, are waited for by nobody, and were not touched for long enough ($1, now $2).
WITH stretch AS MATERIALIZED (
    SELECT s.id, s.states, t.now, s.in_flight = 0 AND NOT s.waited AND s.touched_at <= t.now - $1::interval AS idle
      FROM fairgate.scope s CROSS JOIN (SELECT coalesce($2, clock_timestamp()) AS now) t
     WHERE s.id > $3 ORDER BY s.id LIMIT $4)
SELECT id, states AS gates, now, idle FROM stretch WHERE idle OR id = (SELECT id FROM stretch ORDER BY id DESC LIMIT 1) ORDER BY id
