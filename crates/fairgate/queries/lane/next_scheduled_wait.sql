-- Microseconds until the next scheduled job comes due; no row without one.
SELECT greatest(0, (extract(epoch FROM s.ready_at - coalesce($1, clock_timestamp())) * 1000000)::bigint)
  FROM fairgate.staged s WHERE NOT s.ready ORDER BY s.ready_at LIMIT 1
