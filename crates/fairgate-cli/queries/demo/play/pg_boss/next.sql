-- The next job, as a worker of pg-boss takes it: its id, the event, our job and its policy.
WITH n AS (
    UPDATE pgboss.job j SET state = 'active', started_on = now()
     WHERE j.name = 'fairgate_demo_deliver'
       AND j.id = (SELECT x.id FROM pgboss.job x WHERE x.name = 'fairgate_demo_deliver' AND x.state < 'active' AND x.start_after < now()
                    ORDER BY x.priority DESC, x.created_on, x.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING j.id, j.data)
SELECT n.id::text, n.data::text, t.job_id::text, t.policy
  FROM n JOIN fairgate.ticket t ON t.place = 'pg_boss:pgboss.job' AND t.queue_job_id = n.id::text
