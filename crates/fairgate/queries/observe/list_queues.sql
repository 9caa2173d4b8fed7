-- Jobs that no worker has begun are counted up to a thousand more than a queue may hold.
SELECT q.name, q.kind, q.schema_name, q.ready, q.not_ready_reason AS problem, q.max_waiting, 'started' = ANY (q.shows) AS shows_starts, q.running, q.starts_per_second,
       (SELECT count(*) FROM (SELECT FROM fairgate.in_flight f WHERE f.queue_id = q.id AND f.waiting LIMIT coalesce(q.max_waiting, 1000) + 1000) w) AS waiting
  FROM fairgate.queue q ORDER BY q.name
