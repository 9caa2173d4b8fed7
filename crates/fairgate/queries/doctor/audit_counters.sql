-- Per partition and per scope, in one snapshot: counter and waiting reports beside the rows. A row of the result is a broken promise.
-- Of a scope besides: its waiters, counted as none where it says that nobody waits.
WITH counted AS (
    SELECT x.id, sum(x.pending)::bigint AS pending, sum(x.future)::bigint AS future, sum(x.in_flight)::bigint AS in_flight
      FROM (SELECT id, pending, future, in_flight::bigint AS in_flight FROM fairgate.partition_state
            UNION ALL
            SELECT partition_id, staged, future, -released FROM fairgate.delta) x
     GROUP BY 1),
waiting AS (
    SELECT partition_id AS id, count(*) FILTER (WHERE ready) AS pending, count(*) FILTER (WHERE NOT ready) AS future
      FROM fairgate.staged GROUP BY 1),
flying AS (
    SELECT partition_id AS id, count(*) AS in_flight FROM fairgate.in_flight GROUP BY 1),
scope_counted AS (
    SELECT x.id, sum(x.in_flight)::bigint AS in_flight
      FROM (SELECT id, in_flight::bigint AS in_flight FROM fairgate.scope UNION ALL SELECT scope_id, -released FROM fairgate.scope_delta) x GROUP BY 1),
scope_flying AS (
    SELECT s.id, count(*) AS in_flight FROM fairgate.in_flight f CROSS JOIN LATERAL unnest(f.scopes) s (id) GROUP BY 1),
forgotten AS (
    SELECT s.waiting_on AS id, count(*) AS waiting FROM fairgate.partition_state s LEFT JOIN fairgate.scope c ON c.id = s.waiting_on
     WHERE s.waiting_on IS NOT NULL AND s.due_at IS NULL AND s.pending > 0 AND NOT s.paused AND c.waited IS NOT TRUE GROUP BY 1)
SELECT a.id AS partition_id, v.counter, v.counted, v.rows
  FROM (SELECT coalesce(c.id, w.id, f.id) AS id, coalesce(c.pending, 0) AS cp, coalesce(w.pending, 0) AS rp, coalesce(c.future, 0) AS cf,
               coalesce(w.future, 0) AS rf, coalesce(c.in_flight, 0) AS ci, coalesce(f.in_flight, 0) AS ri
          FROM counted c FULL JOIN waiting w ON w.id = c.id FULL JOIN flying f ON f.id = coalesce(c.id, w.id)) a
 CROSS JOIN LATERAL (VALUES ('pending', a.cp, a.rp), ('future', a.cf, a.rf), ('in_flight', a.ci, a.ri)) v (counter, counted, rows)
 WHERE v.counted <> v.rows
 UNION ALL
SELECT coalesce(c.id, f.id), 'scope_in_flight', coalesce(c.in_flight, 0), coalesce(f.in_flight, 0)
  FROM scope_counted c FULL JOIN scope_flying f ON f.id = c.id WHERE coalesce(c.in_flight, 0) <> coalesce(f.in_flight, 0)
 UNION ALL
SELECT w.id, 'scope_waiting', 0, w.waiting FROM forgotten w
 ORDER BY 1, 2 LIMIT 1000
