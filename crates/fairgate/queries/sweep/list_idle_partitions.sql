-- A stretch of the partitions behind a place ($3): the last id of it, and those to which nothing has happened for long enough ($1, now $2)
-- and that are not marked yet. In id order, so that sweeps walk the table and need no index of idle ones, which every tick would pay for.
WITH stretch AS MATERIALIZED (
    SELECT s.id, s.gates, t.now,
           s.due_at IS NULL AND s.in_flight = 0 AND s.pending = 0 AND s.future = 0 AND NOT s.paused AND s.removing IS NULL
           AND s.touched_at <= t.now - $1::interval AS idle
      FROM fairgate.partition_state s CROSS JOIN (SELECT coalesce($2, clock_timestamp()) AS now) t
     WHERE s.id > $3 ORDER BY s.id LIMIT $4)
SELECT id, gates, now, idle FROM stretch WHERE idle OR id = (SELECT id FROM stretch ORDER BY id DESC LIMIT 1) ORDER BY id
