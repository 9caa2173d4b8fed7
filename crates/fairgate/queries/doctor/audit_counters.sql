-- Per partition, in one snapshot: counter and waiting reports beside the rows. A row of the result is a broken promise.
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
    SELECT partition_id AS id, count(*) AS in_flight FROM fairgate.in_flight GROUP BY 1)
SELECT a.id AS partition_id, v.counter, v.counted, v.rows
  FROM (SELECT coalesce(c.id, w.id, f.id) AS id, coalesce(c.pending, 0) AS cp, coalesce(w.pending, 0) AS rp, coalesce(c.future, 0) AS cf,
               coalesce(w.future, 0) AS rf, coalesce(c.in_flight, 0) AS ci, coalesce(f.in_flight, 0) AS ri
          FROM counted c FULL JOIN waiting w ON w.id = c.id FULL JOIN flying f ON f.id = coalesce(c.id, w.id)) a
 CROSS JOIN LATERAL (VALUES ('pending', a.cp, a.rp), ('future', a.cf, a.rf), ('in_flight', a.ci, a.ri)) v (counter, counted, rows)
 WHERE v.counted <> v.rows
 ORDER BY 1, 2 LIMIT 1000
