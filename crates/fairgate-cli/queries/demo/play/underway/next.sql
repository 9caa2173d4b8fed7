-- The next task, as a worker of underway takes it: its id, the event, our job and its policy.
WITH n AS (
    UPDATE underway.task t SET state = 'in_progress', last_attempt_at = now(), last_heartbeat_at = now()
     WHERE t.task_queue_name = 'fairgate_demo_deliver'
       AND t.id = (SELECT x.id FROM underway.task x WHERE x.task_queue_name = 'fairgate_demo_deliver' AND x.state = 'pending' AND x.created_at + x.delay <= now()
                    ORDER BY x.priority DESC, x.created_at, x.id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING t.id, t.input),
attempted AS (
    INSERT INTO underway.task_attempt (task_id, task_queue_name, attempt_number)
    SELECT n.id, 'fairgate_demo_deliver', 1 + (SELECT count(*) FROM underway.task_attempt a WHERE a.task_id = n.id AND a.task_queue_name = 'fairgate_demo_deliver') FROM n)
SELECT n.id::text, n.input::text, t.job_id::text, t.policy
  FROM n JOIN fairgate.ticket t ON t.place = 'underway:underway.task' AND t.queue_job_id = n.id::text
