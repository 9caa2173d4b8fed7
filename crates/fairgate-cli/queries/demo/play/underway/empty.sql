DELETE FROM underway.task WHERE task_queue_name = 'fairgate_demo_deliver'
