-- What each tenant has waiting and in flight now, and for how long its oldest job has waited.
WITH held AS (
    SELECT f.partition_id, count(*) AS jobs FROM fairgate.in_flight f GROUP BY 1)
SELECT r.place, w.jobs AS waiting, coalesce(h.jobs, 0) AS in_flight, coalesce(greatest(extract(epoch FROM w.longest) * 1000, 0), 0)::bigint AS longest_wait_ms
  FROM fairgate_demo.rule r LEFT JOIN held h ON h.partition_id = r.partition_id
 CROSS JOIN LATERAL (SELECT count(*) AS jobs, max(clock_timestamp() - s.staged_at) AS longest
                       FROM fairgate.staged s WHERE s.partition_id = r.partition_id AND s.ready) w
