
   AND NOT (r.state = 'in_progress' AND r.last_heartbeat_at < now() - r.heartbeat
            AND (SELECT count(*) FROM {schema}.task_attempt a WHERE a.task_queue_name = r.task_queue_name AND a.task_id = r.id) >= (r.retry_policy).max_attempts)
