-- The second statement of a wake-up. It must begin after the locks are had: parking needs the scope's lock, so this one sees everybody who waits, and a
-- snapshot older than the locks would miss who parked in between and forget them. $1 now, of each scope $2: wake $3 of those that wait, longest waiting
-- first; $4 were woken before; $5 when to look again if more are left; $6 the state of its gate, brought up to date: other numbers than those it was stored under count from now on. One that somebody has locked is passed over, and still waits.
WITH wanted AS MATERIALIZED (
    SELECT u.id, u.wake, u.base, u.retry, u.states FROM unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::text[]) u (id, wake, base, retry, states)),
picked AS MATERIALIZED (
    SELECT p.id, w.id AS scope_id
      FROM wanted w CROSS JOIN LATERAL (
           SELECT s.id FROM fairgate.partition_state s WHERE s.waiting_on = w.id
            ORDER BY s.waiting_on, s.waiting_since, s.id LIMIT w.wake FOR NO KEY UPDATE SKIP LOCKED) p),
woken AS (
    UPDATE fairgate.partition_state s
       SET waiting_on = NULL, woken = true, due_at = CASE WHEN s.paused OR s.pending <= 0 THEN NULL ELSE coalesce(s.due_at, s.waiting_since, $1) END
      FROM picked x WHERE s.id = x.id
    RETURNING x.scope_id),
counted AS MATERIALIZED (
    SELECT w.id, w.base, w.retry, w.states, count(x.scope_id) AS woken FROM wanted w LEFT JOIN woken x ON x.scope_id = w.id GROUP BY 1, 2, 3, 4),
left_waiting AS MATERIALIZED (
    SELECT c.*, (SELECT count(*) FROM (SELECT FROM fairgate.partition_state s WHERE s.waiting_on = c.id LIMIT c.woken + 1) x) > c.woken AS more FROM counted c)
UPDATE fairgate.scope s
   SET waited = l.more, states = coalesce(l.states, s.states), woken = l.base + l.woken, woken_at = CASE WHEN l.woken > 0 THEN $1 ELSE s.woken_at END, due_at = CASE WHEN l.more THEN l.retry END
  FROM left_waiting l WHERE s.id = l.id
RETURNING l.woken
