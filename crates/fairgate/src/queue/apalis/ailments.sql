-- Workers that only poll, and back off while idle, leave a batch waiting.
SELECT format('%s jobs of "%s" have waited over 10 s although a worker was seen in the last minute', count(*), j.job_type),
       'the worker polls too seldom: build its storage .with_pubsub().poll_with_interval(Duration::from_secs(1))'
  FROM {table} j
 WHERE j.status = 'Pending' AND j.run_at < now() - interval '10 seconds'
   AND EXISTS (SELECT FROM {schema}.workers w WHERE w.worker_type = j.job_type AND w.last_seen > now() - interval '1 minute')
   AND NOT EXISTS (SELECT FROM {table} b WHERE b.job_type = j.job_type AND b.status IN ('Queued', 'Running'))
 GROUP BY j.job_type
UNION ALL
SELECT format('%s jobs of "%s" are no ULID', count(*), j.job_type), 'apalis reads no other ids: remove them'
  FROM {table} j WHERE j.status = 'Pending' AND length(j.id) <> 26
 GROUP BY j.job_type
