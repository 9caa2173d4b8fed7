r.input::json AS payload, -r.priority AS priority, r.updated_at + r.delay AS run_at, {attempts}::int AS attempts, (r.retry_policy).max_attempts AS max_attempts,
    (SELECT a.error_message FROM {schema}.task_attempt a WHERE a.task_queue_name = r.task_queue_name AND a.task_id = r.id
      ORDER BY a.attempt_number DESC LIMIT 1) AS error
