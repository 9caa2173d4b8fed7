-- The next job, as a client of River takes it: its id, the event, our job and its policy.
WITH n AS (
    UPDATE public.river_job j SET state = 'running', attempt = attempt + 1, attempted_at = now(), attempted_by = array_append(attempted_by, 'fairgate demo')
     WHERE j.id = (SELECT x.id FROM public.river_job x WHERE x.state = 'available' AND x.queue = 'default' AND x.scheduled_at <= now()
                    ORDER BY x.priority, x.scheduled_at, x.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING j.id, j.args)
SELECT n.id::text, n.args::text, t.job_id::text, t.policy
  FROM n JOIN fairgate.ticket t ON t.place = 'table:public.river_job' AND t.queue_job_id = n.id::text
