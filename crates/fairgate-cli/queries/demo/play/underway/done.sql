WITH attempted AS (
    UPDATE underway.task_attempt SET state = 'succeeded', completed_at = now()
     WHERE task_queue_name = 'fairgate_demo_deliver' AND task_id = $1::uuid AND state = 'in_progress')
UPDATE underway.task SET state = 'succeeded', updated_at = now(), completed_at = now() WHERE task_queue_name = 'fairgate_demo_deliver' AND id = $1::uuid
