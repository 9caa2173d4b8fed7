(SELECT count(*) FROM {schema}.task_attempt a WHERE a.task_queue_name = r.task_queue_name AND a.task_id = r.id)
